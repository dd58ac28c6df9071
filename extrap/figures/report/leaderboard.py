"""The leaderboard: a line per series with its score past the training length, its interval and the
ranks that it may have; and the sentence that a reader takes from it.
"""

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np
import pandas as pd

from extrap.figures.report.text import interval, measure, number, table
from extrap.figures.report.views import View
from extrap.results.cells import cells, counted, taught
from extrap.results.effective import NOTHING, effective_lengths
from extrap.results.series import Series, select
from extrap.results.stats.intervals import mean_over_seeds
from extrap.results.stats.ranks import rank_intervals

FURTHEST = 4
"""Greatest multiple of the training length at which series are ranked."""
NONE = pd.Series(dtype=float)


class Score(NamedTuple):
    """One measure of one task, by which series are ranked."""

    task: str
    protocol: str
    metric: str

    @property
    def sign(self) -> int:
        """1 where more is better, -1 of a loss."""
        return -1 if self.metric == "nll" else 1

    def mean(self, values: pd.Series) -> float:
        """Returns the mean over seeds, nan without any; a perplexity for losses."""
        mean = float(values.mean()) if len(values) else math.nan
        return math.exp(min(mean, 700)) if self.sign < 0 else mean

    def words(self, values: pd.Series) -> str:
        """Returns the mean over seeds as text, with its interval from three seeds on."""
        _, low, high = mean_over_seeds(values, (0, 1) if self.sign > 0 else (-np.inf, np.inf))
        low, high = np.exp([low, high]) if self.sign < 0 else (low, high)
        return interval(self.mean(values), low, high)


def score(views: Sequence[View]) -> Score | None:
    """Returns what series are ranked by: retrieval of records (kv) if the rows have it, else the
    first accuracy, else the first loss; None without several lengths.
    """
    long = [view for view in views if view.kind == "length"]
    rank = [((v.task, v.protocol) != ("kv", "records"), v.loss, i) for i, v in enumerate(long)]
    if not long:
        return None
    view = long[min(rank)[-1]]
    return Score(view.task, view.protocol, view.metric)


def leaderboard(views: Sequence[View], found: Sequence[Series]) -> tuple[str, str]:
    """Returns (the sentence to take from it, the table with the best series first)."""
    of = score(views)
    if of is None:
        return "This study has no score at several lengths.", "<p>No leaderboard.</p>"
    values = _by_multiple(found, of)
    multiple = max((m for m in values if m <= FURTHEST), default=1.0)
    far, near = values.get(multiple, {}), values.get(1.0, {})
    text = next((v for v in views if v.kind == "length" and v.loss), None)
    loss = Score(text.task, text.protocol, "nll") if text and of.sign > 0 else of
    other = _by_multiple(found, loss).get(multiple, {}) if loss != of else {}
    ranks = rank_intervals(pd.DataFrame({str(i): of.sign * far[i] for i in sorted(far)}))
    lengths = {i: effective_lengths(found[i]).get(of[:2], NOTHING) for i in {*far, *near}}
    best = sorted(far, key=lambda i: (-of.sign * far[i].mean(), found[i].label))
    order = best + sorted({*near} - {*far}, key=lambda i: found[i].label)
    head = ["series", f"{measure(*of)} at {multiple:.3g}x [95 %]", "ranks", "at 1x"]
    head += [f"{measure(*loss)} at {multiple:.3g}x"] if other else []
    head += ["effective length, tokens", "seeds", "below the gate", "parameters"]
    lines = []
    for i in order:
        rows, here, close = found[i].rows, far.get(i, NONE), of.mean(near.get(i, NONE))
        place = ranks.get(str(i), (0, 0))
        cells = [found[i].label, (of.words(here), of.mean(here)), _ranks(*place)]
        means = [close, loss.mean(other.get(i, NONE))] if other else [close]
        cells += [(number(mean), mean) for mean in means]
        below = rows.loc[(rows["mark"] != "ok") & (rows["task"] == of.task), "run"].nunique()
        size = float(rows["params"].astype(float).max())
        cells += [(str(lengths[i]), lengths[i].tokens)]
        cells += [(str(n), float(n)) for n in (int(rows["run"].nunique()), int(below))]
        cells += [("-" if math.isnan(size) else f"{size:,.0f}", size)]
        lines.append(cells)
    lead = _lead(found, best, of, multiple, far, ranks, lengths)
    return lead, table(head, lines, kind="sorts", series=order)


def _lead(found, order: list[int], of: Score, multiple, far: dict, ranks, lengths) -> str:
    """Returns who is best, who may be as good, who is last, and how many keep their score."""
    if not order:
        return "No series was evaluated beyond its training length."
    name = {i: f"<b>{escape(found[i].label)}</b>" for i in order}
    best, last = order[0], order[-1]
    words = f"At {multiple:.3g} times the training length, {name[best]} has the best "
    words += f"{escape(measure(*of))}: {of.words(far[best])}."
    if len(order) > 1:
        equal = [name[i] for i in order[1:] if ranks[str(i)][0] == 1]
        words += _equal(equal, min(len(far[i]) for i in order))
        words += f" The last of {len(order)}, {name[last]}, has {of.words(far[last])}."
    if of.sign > 0:
        reach = [lengths[i].tokens / found[i].rows["train_length"].iloc[0] for i in order]
        kept = sum(length >= multiple for length in reach)
        words += f" {kept} of {len(order)} series keep 85 % of their score at L to this length."
    return words


def _equal(names: list[str], seeds: int) -> str:
    if seeds < 3:
        return " With fewer than three seeds, this order may be chance."
    if not names:
        return " Every other series lies below it."
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f" Its seeds do not tell it apart from {shown}."


def _ranks(best: int, worst: int) -> tuple[str, float]:
    """Returns ranks as text, and a number to sort by; a series without values so far has none."""
    if best == 0:
        return "-", math.nan
    return (f"{best}–{worst}" if worst > best else str(best)), best + worst / 1000


def _by_multiple(found: Sequence[Series], of: Score) -> dict[float, dict[int, pd.Series]]:
    """Returns {multiple of the training length: {series: values by seed}} of the cells that count;
    losses in nats.
    """
    place = of._asdict()
    own = [counted(cells(taught(select(s.rows, **place)))) for s in found]
    rows = pd.concat([part.assign(series=i) for i, part in enumerate(own)])
    means = rows.groupby(["multiple", "series", "seed"])["value"].mean()
    return {
        at: {i: one.droplevel([0, 1]) for i, one in part.groupby(level="series")}
        for at, part in means.groupby(level=0)
    }
