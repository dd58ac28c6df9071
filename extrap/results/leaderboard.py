"""The leaderboard of results/README.md: how far each scheme reads, from rows alone."""

import numpy as np
import pandas as pd

from extrap.results.effective import effective
from extrap.results.series import select
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
    plain = [(select(rows, extension="direct"), layers) for rows, layers in parts]
    schemes = (
        (scheme, layers, own) for rows, layers in plain for scheme, own in rows.groupby("scheme")
    )
    return [HEAD, *(line for _, line in sorted((_line(*one) for one in schemes), reverse=True))]


def _line(scheme: str, layers: int, rows: pd.DataFrame) -> tuple[tuple, tuple[str, ...]]:
    found = select(rows, task="kv", metric="accuracy", protocol="records")
    learned = found[found["status"] == "ok"]
    length, values = effective(learned), found[found["multiple"] == FAR].groupby("seed")["value"]
    values = values.mean()
    seeds, passed = found["run"].nunique(), learned["run"].nunique()
    text = str(length).replace(">=", "≥ ")
    if np.isfinite([length.low, length.high]).all():
        text += f" [{length.low:.0f}, {length.high:.0f}]"
    if found["multiple"].max() <= 1:
        text = f"{length.tokens:.0f}, no position past L"
    losses = select(rows, task="nll", metric="nll", protocol="sliding")
    at = [losses.loc[losses["multiple"] == multiple, "value"] for multiple in (1, FAR)]
    cells = (
        scheme,
        str(layers),
        f"{rows['size'].max():,.0f}",
        text,
        _share(values) if len(values) else "-",
        ", ".join(f"{np.exp(one.mean()):.1f}" if len(one) else "-" for one in at),
        str(seeds) if passed == seeds else f"{seeds}, {seeds - passed} below the gate",
    )
    return (length.tokens, values.mean() if len(values) else 0.0), cells


def _share(values: pd.Series) -> str:
    low, high = np.clip(t_interval(values), 0, 1)
    return f"{values.mean():.2f} [{low:.2f}, {high:.2f}]".replace("0.", ".")
