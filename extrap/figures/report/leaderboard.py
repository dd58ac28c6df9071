"""The leaderboard: a line per series with its score past the training length, its interval and the
ranks that it may have; and the sentence that a reader takes from it.
"""

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np
import pandas as pd

from extrap.figures.report.text import interval, measure, number
from extrap.figures.report.views import View, scored
from extrap.results.effective import NOTHING, Effective, effective_lengths
from extrap.results.series import Series
from extrap.results.stats.intervals import t_interval
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
    def loss(self) -> bool:
        return self.metric == "nll"

    def mean(self, values: pd.Series) -> float:
        """Returns the mean over seeds, nan without any; a perplexity for losses."""
        mean = float(values.mean()) if len(values) else math.nan
        return math.exp(min(mean, 700)) if self.loss else mean

    def words(self, values: pd.Series) -> str:
        """Returns the mean over seeds as text, with its interval from three seeds on."""
        low, high = t_interval(values) if len(values) >= 3 else (math.nan, math.nan)
        low, high = np.exp([low, high]) if self.loss else np.clip([low, high], 0, 1)
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
    far, near, sign = values.get(multiple, {}), values.get(1.0, {}), -1 if of.loss else 1
    text = next((v for v in views if v.kind == "length" and v.loss), None)
    loss = Score(text.task, text.protocol, "nll") if text and not of.loss else None
    other = _by_multiple(found, loss).get(multiple, {}) if loss else {}
    ranks = rank_intervals(pd.DataFrame({str(i): sign * far[i] for i in sorted(far)}))
    lengths = {i: _effective(found[i], of) for i in {*far, *near}}
    order = sorted(far, key=lambda i: (-sign * far[i].mean(), found[i].label))
    order += sorted({*near} - {*far}, key=lambda i: found[i].label)
    head = ["series", f"{measure(*of)} at {multiple:.3g}x [95 %]", "ranks", "at 1x"]
    head += [f"{measure(*loss)} at {multiple:.3g}x"] if loss and other else []
    head += ["effective length, tokens", "seeds", "below the gate", "parameters"]
    lines = []
    for i in order:
        rows, here = found[i].rows, far.get(i, NONE)
        cells = [(escape(found[i].label), math.nan), (of.words(here), of.mean(here))]
        cells += [_ranks(*ranks.get(str(i), (0, 0))), _number(of.mean(near.get(i, NONE)))]
        cells += [_number(loss.mean(other.get(i, NONE)))] if loss and other else []
        below = rows.loc[(rows["mark"] != "ok") & (rows["task"] == of.task), "run"].nunique()
        size = float(rows["params"].astype(float).max())
        cells += [(str(lengths[i]), lengths[i].tokens)]
        cells += [(str(n), float(n)) for n in (int(rows["run"].nunique()), int(below))]
        cells += [("-" if math.isnan(size) else f"{size:,.0f}", size)]
        lines.append(f'<tr class="s" data-s="{i}">' + "".join(map(_cell, cells)) + "</tr>")
    titles = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    return _lead(found, of, multiple, far, ranks, lengths), (
        f'<div class="scroll"><table class="sorts"><thead><tr>{titles}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _lead(found, of: Score, multiple: float, far: dict, ranks: dict, lengths: dict) -> str:
    """Returns who is best, who may be as good, who is last, and how many keep their score."""
    order = sorted(far, key=lambda i: ((1 if of.loss else -1) * far[i].mean(), found[i].label))
    name = {i: f"<b>{escape(found[i].label)}</b>" for i in order}
    if not order:
        return "No series was evaluated beyond its training length."
    best, last = order[0], order[-1]
    where = f"At {multiple:.3g} times the training length"
    words = f"{where}, {name[best]} has the best {escape(measure(*of))}: {of.words(far[best])}."
    if len(order) > 1:
        equal = [name[i] for i in order[1:] if ranks[str(i)][0] == 1]
        words += _equal(equal, min(len(far[i]) for i in order))
        words += f" The last of {len(order)}, {name[last]}, has {of.words(far[last])}."
    kept = sum(lengths[i].tokens >= multiple * _trained(found[i]) for i in order)
    if not of.loss:
        words += f" {kept} of {len(order)} series keep 85 % of their score at L to this length."
    return words


def _equal(names: list[str], seeds: int) -> str:
    if seeds < 3:
        return " With fewer than three seeds, this order may be chance."
    if not names:
        return " Every other series lies below it."
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f" Its seeds do not tell it apart from {shown}."


def _trained(s: Series) -> int:
    return int(s.rows["train_length"].iloc[0])


def _number(value: float) -> tuple[str, float]:
    return number(value), value


def _ranks(best: int, worst: int) -> tuple[str, float]:
    """As text, and a number to sort by; a series that was not read so far has none."""
    if best == 0:
        return "-", math.nan
    return (f"{best}–{worst}" if worst > best else str(best)), best + worst / 1000


def _cell(cell: tuple[str, float]) -> str:
    words, value = cell
    known = "" if math.isnan(value) else f' data-v="{float(value):.6g}"'
    return f"<td{known}>{words}</td>"


def _by_multiple(found: Sequence[Series], of: Score) -> dict[float, dict[int, pd.Series]]:
    """{multiple: {series: value by seed}}, means over depths; losses in nats."""
    parts = [
        scored(s.rows[(s.rows["task"] == of.task) & (s.rows["protocol"] == of.protocol)]).assign(
            series=i
        )
        for i, s in enumerate(found)
    ]
    rows = pd.concat(parts)
    rows = rows[rows["metric"] == of.metric]
    depths = rows[rows["depth"].notna()]
    rows = depths if len(depths) else rows
    multiples = (rows["length"] / rows["train_length"]).astype(float)
    means = rows.assign(multiple=multiples).groupby(["multiple", "series", "seed"])["value"].mean()
    out: dict[float, dict[int, pd.Series]] = {}
    for (multiple, index), part in means.groupby(level=["multiple", "series"]):
        out.setdefault(float(multiple), {})[int(index)] = part.droplevel(["multiple", "series"])
    return out


def _effective(s: Series, of: Score) -> Effective:
    rows = s.rows[(s.rows["task"] == of.task) & (s.rows["protocol"] == of.protocol)]
    rows = rows.assign(status=rows["mark"])
    found = effective_lengths(Series(s.scheme, s.data, s.extension, s.status, s.label, rows))
    return found.get((of.task, of.protocol), NOTHING)
