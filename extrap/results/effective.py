"""Effective length: how long a context may be until a score falls below 85 % of its base.

The base is the score at the training length L; the length is effective up to the first measured
length beyond L at which the score lies below .85 base. Between that and the length before, the
score is taken as linear in log2 of the length. Where no measured length fails, the longest one is a
lower bound. A length at which a trained model diverges, whose logits are no numbers, scores 0. A
model that scores 0 at L has no effective length: no score lies below .85 of 0. Nor has a task
without a score at L, such as `algorithmic`: its lengths follow from its longest problem.
Source: NoLiMa, arXiv 2502.05167 (85 % of the base score; interpolation is ours).
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from extrap.results.cells import cells
from extrap.results.series import Series
from extrap.results.stats.intervals import mean_over_seeds

SHARE = 0.85
SCORES = ("accuracy", "recall")
"""Metrics that are scores of a task; the first that a protocol has counts."""


class Effective(NamedTuple):
    """An effective length in tokens with its 95 % interval (nan where nothing supports it).

    Args:
        least: whether some seed, or the bound itself, reached the longest measured length, so that
            the number is a lower bound
    """

    tokens: float
    low: float
    high: float
    least: bool

    def __str__(self) -> str:
        if np.isnan(self.tokens):
            return "-"
        return f"{'>=' * self.least}{self.tokens:.0f}"


NOTHING = Effective(np.nan, np.nan, np.nan, False)


def crossing(scores: pd.Series, train_length: int, bar: float | None = None) -> tuple[float, bool]:
    """Returns (tokens, whether no length fails) of a curve of scores by length; tokens are nan if
    the base is missing or 0.

    bar: the score below which a length fails, .85 of the base unless said. A base below the bar has
    the training length itself.
    """
    scores = scores.dropna().sort_index()
    by_length = dict(zip(scores.index, scores, strict=True))
    return _crossing(by_length, train_length, bar)


def _crossing(
    scores: dict[int, float], train_length: int, bar: float | None = None
) -> tuple[float, bool]:
    """Returns what `crossing` does. scores: by length, ascending, none missing."""
    base = scores.get(train_length, 0.0)
    if base <= 0:
        return np.nan, False
    bar = SHARE * base if bar is None else bar
    if base < bar:
        return float(train_length), False
    before = train_length
    for length, score in scores.items():
        if length <= train_length:
            continue
        if score < bar:
            room = scores[before] - bar
            part = np.float64(room / (scores[before] - score))
            crossed = before * (length / before) ** part
            return float(crossed), False
        before = length
    return float(before), True


def effective(rows: pd.DataFrame) -> Effective:
    """The effective length of one protocol: of a single seed, or the geometric mean over seeds.

    Seeds: Student's interval over log2, from three on; open above where a seed is a lower bound.
    One seed: where the curve crosses the bar when all scores lie at the lower, or all at the upper
    end of their intervals, which are taken as dependent over depths.

    Args:
        rows: cells of one series, task, protocol and metric.
    """
    found = rows.groupby(["run", "length"])[["value", "low", "high"]].mean()
    train_length = int(rows["train_length"].iloc[0])
    table = found["value"].unstack("length").sort_index(axis=1)
    lengths = table.columns.tolist()
    ends = []
    for values in table.to_numpy(float).tolist():
        by_length = zip(lengths, values, strict=True)
        scores = {int(n): score for n, score in by_length if score == score}
        ends.append(_crossing(scores, train_length))
    logs = np.log2([tokens for tokens, _ in ends])
    least = any(open_ended for _, open_ended in ends)
    if np.isnan(logs).any():
        return NOTHING
    if len(ends) > 1:
        tokens, low, high = (float(2**log) for log in mean_over_seeds(logs))
        if least and not np.isnan(high):
            high = np.inf
        return Effective(tokens, low, high, least)
    tokens = float(2 ** logs[0])
    curve = found.droplevel("run")
    bar = SHARE * curve["value"].loc[train_length]
    low, _ = crossing(curve["low"], train_length, bar)
    high, open_above = crossing(curve["high"], train_length, bar)
    if open_above:
        high = np.inf
    return Effective(tokens, low, high, least)


def with_lost(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns rows in which scores that diverged are 0, of runs and protocols that are elsewhere
    `ok`. `mark` holds the status of a row, as `series.whole` leaves it.
    """
    ok = rows["mark"] == "ok"
    place = [rows[name] for name in ("run", "extension", "factor", "task", "protocol")]
    learned = ok.groupby(place, dropna=False).transform("any")
    lost = (rows["mark"] == "diverged") & rows["value"].isna() & rows["metric"].isin(SCORES)
    zero = {name: rows[name].mask(lost & learned, 0.0) for name in ("value", "low", "high")}
    return rows.assign(**zero, mark=rows["mark"].mask(lost & learned, "ok"))


def effective_lengths(found: Series) -> dict[tuple[str, str], Effective]:
    """{(task, protocol): effective length} of what a series of `whole` scores at several lengths.

    Readings that did not learn their task (mark other than ok) have none.
    """
    out = {}
    scores = cells(with_lost(found.rows), SCORES)
    for (task, protocol), part in scores.groupby(["task", "protocol"]):
        measured = {*part["metric"].unique()}
        metric = next(name for name in SCORES if name in measured)
        learned = part[(part["metric"] == metric) & (part["mark"] == "ok")]
        if learned["length"].nunique() > 1:
            length = effective(learned)
            if not np.isnan(length.tokens):
                out[str(task), str(protocol)] = length
    return out
