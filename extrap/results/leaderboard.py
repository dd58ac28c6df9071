"""The leaderboard of results/README.md: how far each scheme reads, from rows alone."""

import numpy as np
import pandas as pd

from extrap.results.effective import effective
from extrap.results.stats.intervals import t_interval

FAR = 4
"""Multiple of the training length at which schemes are compared."""
HEAD = ("scheme", "layers", "parameters", "effective length, tokens", f"found at {FAR} L")
HEAD = (*HEAD, f"perplexity at L, {FAR} L", "seeds")


def leaderboard(parts: list[tuple[pd.DataFrame, int]]) -> list[tuple[str, ...]]:
    """Returns a line for each scheme of each part, the furthest effective length first.

    Of plain readings: retrieval of records, the mean over depths and seeds with Student's interval
    over seeds; the effective length of the seeds that pass the gate; sliding perplexity.

    Args:
        parts: (rows as `verdict.table` leaves them, layers of their models).
    """
    lines = []
    for rows, layers in parts:
        plain = rows[rows["extension"] == "direct"]
        for scheme, own in plain.groupby("scheme"):
            lines.append(_line(str(scheme), layers, own))
    return [HEAD, *(line for _, line in sorted(lines, reverse=True))]


def _line(scheme: str, layers: int, rows: pd.DataFrame) -> tuple[tuple, tuple[str, ...]]:
    found = rows[
        (rows["task"] == "kv") & (rows["metric"] == "accuracy") & (rows["protocol"] == "records")
    ]
    learned = found[found["status"] == "ok"]
    length, far = effective(learned), found[found["multiple"] == FAR]
    values = far.groupby("seed")["value"].mean()
    seeds, passed = found["run"].nunique(), learned["run"].nunique()
    text = str(length).replace(">=", "≥ ")
    if np.isfinite([length.low, length.high]).all():
        text += f" [{length.low:.0f}, {length.high:.0f}]"
    if found["multiple"].max() <= 1:
        text = f"{length.tokens:.0f}, no position past L"
    cells = (
        scheme,
        str(layers),
        f"{rows['size'].max():,.0f}",
        text,
        _share(values) if len(values) else "-",
        ", ".join(_perplexity(rows, multiple) for multiple in (1, FAR)),
        str(seeds) if passed == seeds else f"{seeds}, {seeds - passed} below the gate",
    )
    return (length.tokens, values.mean() if len(values) else 0.0), cells


def _share(values: pd.Series) -> str:
    low, high = np.clip(t_interval(values), 0, 1)
    return f"{values.mean():.2f} [{low:.2f}, {high:.2f}]".replace("0.", ".")


def _perplexity(rows: pd.DataFrame, multiple: float) -> str:
    own = rows[(rows["task"] == "nll") & (rows["metric"] == "nll")]
    own = own[(own["protocol"] == "sliding") & (own["multiple"] == multiple)]
    return f"{np.exp(own['value'].mean()):.1f}" if len(own) else "-"
