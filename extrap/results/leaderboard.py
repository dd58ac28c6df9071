"""The leaderboard of results/README.md: how far each scheme reads, from rows alone."""

import numpy as np
import pandas as pd

from extrap.results.cells import cells, counted
from extrap.results.effective import NOTHING, effective, with_lost
from extrap.results.series import select
from extrap.results.stats.intervals import mean_over_seeds
from extrap.results.stats.ranks import TIED
from extrap.results.tuned import whole_seeds

FAR = 4
"""Multiple of the training length at which schemes are compared."""
HEAD = ("scheme", "layers", "parameters", "effective length, tokens", f"found at {FAR} L")
HEAD = (*HEAD, "mean and span over {} recipes, those that teach it")
HEAD = (*HEAD, f"sliding perplexity at L, {FAR} L", "seeds")
RECIPE = ["train_length", "layers", "heads", "lr"]
TUNED = ("scheme", "own recipe", f"found at {FAR} L", "under recipe 1")
TUNED = (*TUNED, "mean and span over {} recipes, learned or not")
TUNED = (*TUNED, f"sliding perplexity at L, {FAR} L", "seeds")
FOUND = {"task": "kv", "metric": "accuracy", "protocol": "records"}
LOSS = {"task": "nll", "metric": "nll", "protocol": "sliding"}


def leaderboard(
    parts: list[tuple[pd.DataFrame, int]], recipes: pd.DataFrame | None = None
) -> list[tuple[str, ...]]:
    """Returns a line for each scheme of each part, the furthest effective length first.

    Of plain readings: retrieval of records, the mean over the seeds that count with its interval;
    the effective length of the seeds that pass the gate; sliding perplexity. Beside what a scheme
    finds under its headline recipe stands what it finds under the recipes of a study by which it
    learns to find within L, and their number where it is not all: seeds are averaged first.

    Args:
        parts: (rows as `verdict.table` leaves them, layers of their models).
        recipes: such rows of the study of recipes; without them the column is empty.
    """
    spans = _spans(recipes)
    most = 0 if recipes is None else recipes.groupby(RECIPE).ngroups
    head = tuple(cell.format(most) for cell in HEAD)
    lines = []
    for rows, layers in parts:
        plain = rows[rows["extension"] == "direct"]
        for scheme, own in plain.groupby("scheme"):
            lines.append(_line(str(scheme), layers, own, _span(spans.get(str(scheme)), most)))
    lines.sort(reverse=True)
    return [head, *(line for _, line in lines)]


def _spans(rows: pd.DataFrame | None) -> dict[str, pd.Series]:
    """Returns what each scheme finds under each recipe by which it learns to find within L."""
    if rows is None:
        return {}
    found = select(rows, extension="direct", **FOUND)
    far = found[found["multiple"].eq(FAR) & found["status"].eq("ok")]
    of_recipes = far.groupby(["scheme", *RECIPE])
    means = of_recipes["value"].mean().round(TIED)
    return {str(scheme): part for scheme, part in means.groupby("scheme")}


def _span(values: pd.Series | None, most: int) -> str:
    """Returns mean and span, and how many there are where it is fewer than `most`."""
    if values is None:
        return "-"
    mean = round(float(values.mean()), TIED)
    text = f"{mean:.2f}, {values.min():.2f} to {values.max():.2f}".replace("0.", ".")
    return text if len(values) == most else f"{text} ({len(values)})"


def _line(scheme: str, layers: int, rows: pd.DataFrame, span: str):
    """Returns (what lines are sorted by, the cells of a line)."""
    scores = cells(with_lost(rows.assign(mark=rows["status"])))
    found = select(scores, **FOUND)
    learned = found[found["mark"] == "ok"]
    shown = counted(found)
    length = effective(learned) if len(learned) else NOTHING
    values = shown.loc[shown["multiple"] == FAR, "value"]
    seeds = found["run"].nunique()
    passed = learned["run"].nunique()
    score = values.mean() if len(values) else 0.0
    text = str(length).replace(">=", "≥ ")
    if np.isfinite([length.low, length.high]).all():
        text += f" [{length.low:.0f}, {length.high:.0f}]"
    if found["multiple"].max() <= 1:
        text = f"{length.tokens:.0f}, no position past L"
    line = (
        scheme,
        str(layers),
        f"{rows['size'].max():,.0f}",
        text,
        _share(values) if len(values) else "-",
        span,
        _perplexities(scores),
        str(seeds) if passed == seeds else f"{seeds}, {seeds - passed} below the gate",
    )
    return (np.nan_to_num(length.tokens), score), line


def tuned(rows: pd.DataFrame) -> list[tuple[str, ...]]:
    """Returns a line for each scheme under its own recipe (`results.tuned`), what finds most first.

    Beside it: what the scheme finds under recipe 1, the bench's own, and under all of them; means
    over the seeds that have all recipes, below the gate or not.

    Args:
        rows: of a study of numbered recipes, as `verdict.table` leaves them.
    """
    plain = rows["extension"].eq("direct")
    known = whole_seeds(rows[plain & rows["tuned"].notna()])
    numbered = cells(known.assign(mark=known["status"]))
    recipes = numbered["recipe"].nunique()
    lines = [_tuned(str(scheme), own) for scheme, own in numbered.groupby("scheme")]
    lines.sort(reverse=True)
    head = tuple(cell.format(recipes) for cell in TUNED)
    return [head, *(line for _, line in lines)]


def _tuned(scheme: str, rows: pd.DataFrame) -> tuple[float, tuple[str, ...]]:
    """Returns (what is found at FAR under the scheme's own recipe, the cells of a line)."""
    own = rows[rows["tuned"] == 1]
    found = select(rows, **FOUND)
    far = found[found["multiple"] == FAR]
    values = far.loc[far["tuned"] == 1, "value"]
    under_first = far.loc[far["recipe"] == 1, "value"]
    means = far.groupby("recipe")["value"].mean()
    line = (
        scheme,
        f"{own['recipe'].iloc[0]:.0f}",
        _share(values),
        _share(under_first),
        _span(means.round(TIED), len(means)),
        _perplexities(own),
        str(own["seed"].nunique()),
    )
    return float(values.mean()), line


def _perplexities(scores: pd.DataFrame) -> str:
    """Returns the sliding perplexities at L and at FAR, the means over seeds."""
    losses = select(scores, **LOSS)
    texts = []
    for multiple in (1, FAR):
        here = losses.loc[losses["multiple"] == multiple, "value"]
        texts.append(f"{np.exp(here.mean()):.1f}" if len(here) else "-")
    return ", ".join(texts)


def _share(values: pd.Series) -> str:
    mean, low, high = mean_over_seeds(values, (0, 1))
    interval = "" if np.isnan(low) else f" [{low:.2f}, {high:.2f}]"
    return f"{mean:.2f}{interval}".replace("0.", ".")
