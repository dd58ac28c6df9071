"""Effective length: how long a context may be until a score falls below 85 % of its base.

The base is the score at the training length L; the length is effective up to the first measured
length beyond L at which the score lies below .85 base. Between that and the length before, the
score is taken as linear in log2 of the length. Where no measured length fails, the longest one is a
lower bound. A model that scores 0 at L has no effective length: no score lies below .85 of 0.
Source: NoLiMa, arXiv 2502.05167 (85 % of the base score; interpolation is ours).
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from extrap.results.series import Series, select
from extrap.results.stats.crossed import over_seeds

SHARE = 0.85
SCORES = ("accuracy", "recall")
"""Metrics that are scores of a task; the first that a protocol has counts."""


class Effective(NamedTuple):
    """An effective length in tokens with its 95 % interval (nan where nothing supports it).

    least: whether some seed, or the bound itself, reached the longest measured length, so that the
    number is a lower bound.
    """

    tokens: float
    low: float
    high: float
    least: bool

    def __str__(self) -> str:
        return "-" if np.isnan(self.tokens) else f"{'>=' * self.least}{self.tokens:.0f}"


NOTHING = Effective(np.nan, np.nan, np.nan, False)


def crossing(scores: pd.Series, train_length: int, bar: float | None = None) -> tuple[float, bool]:
    """Returns (tokens, whether no length fails) of a curve of scores by length; tokens are nan if
    the base is missing or 0.

    bar: the score below which a length fails, .85 of the base unless said. A base below the bar has
    the training length itself.
    """
    scores = scores.dropna().sort_index()
    if train_length not in scores.index or scores[train_length] <= 0:
        return np.nan, False
    bar = SHARE * scores[train_length] if bar is None else bar
    before = train_length
    for length, score in scores[scores.index > train_length].items():
        if score < bar:
            room = scores[before] - bar
            if room <= 0:
                return float(before), False
            part = room / (scores[before] - score)
            return float(before * (length / before) ** part), False
        before = length
    return float(before), scores[train_length] >= bar


def effective(rows: pd.DataFrame) -> Effective:
    """The effective length of one protocol: of a single seed, or the geometric mean over seeds.

    Seeds: Student's interval over log2, from three on; open above where a seed is a lower bound.
    One seed: where the curve crosses the bar when all scores lie at the lower, or all at the upper
    end of their intervals, which are taken as dependent over depths.

    Args:
        rows: of one series, task, protocol and metric; depths are averaged.
    """
    found = rows.groupby(["run", "length"])[["value", "low", "high"]].mean()
    train_length = int(rows["train_length"].iloc[0])
    curves = [part.droplevel("run") for _, part in found.groupby("run")]
    ends = [crossing(curve["value"], train_length) for curve in curves]
    logs = np.log2([tokens for tokens, _ in ends])
    least = any(open_ended for _, open_ended in ends)
    if np.isnan(logs).any():
        return NOTHING
    tokens = float(2 ** logs.mean())
    if len(ends) > 2:
        low, high = over_seeds(logs).interval
        return Effective(tokens, 2**low, np.inf if least else 2**high, least)
    if len(ends) == 2:
        return Effective(tokens, np.nan, np.nan, least)
    (curve,) = curves
    bar = SHARE * curve.loc[train_length, "value"]
    low, _ = crossing(curve["low"], train_length, bar)
    high, open_above = crossing(curve["high"], train_length, bar)
    return Effective(tokens, low, np.inf if open_above else high, least)


def effective_lengths(found: Series) -> dict[tuple[str, str], Effective]:
    """{(task, protocol): effective length} of what a series of `whole` scores at several lengths.

    Readings that did not learn their task (mark other than ok) have none.
    """
    rows = found.rows[found.rows["layer"].isna() & found.rows["length"].notna()]
    out = {}
    for (task, protocol), part in rows.groupby(["task", "protocol"]):
        metric = next((name for name in SCORES if name in set(part["metric"])), None)
        scores = select(part, metric=metric) if metric else part[:0]
        depths = scores["depth"].notna()
        scores = scores[depths] if depths.any() else scores[scores["axis"].isin(("", "index"))]
        learned = scores[scores["mark"] == "ok"]
        if learned["length"].nunique() > 1:
            length = effective(learned)
            if not np.isnan(length.tokens):
                out[str(task), str(protocol)] = length
    return out
