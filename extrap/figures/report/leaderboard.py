"""The leaderboard: a line per series with its score past the training length, its interval and the
ranks that it may have.
"""

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np
import pandas as pd

from extrap.figures.report.text import interval, number
from extrap.figures.report.views import View, scored
from extrap.results.effective import effective_lengths
from extrap.results.series import Series
from extrap.results.stats.intervals import t_interval
from extrap.results.stats.ranks import rank_intervals

FURTHEST = 4
"""Greatest multiple of the training length at which series are ranked."""


class Score(NamedTuple):
    """What series are ranked by: one protocol, read at `far` times the training length."""

    task: str
    protocol: str
    metric: str
    far: float

    @property
    def name(self) -> str:
        what = "perplexity" if self.metric == "nll" else self.metric
        return " ".join(word for word in (self.task, self.protocol, what) if word)


def score(views: Sequence[View]) -> Score | None:
    """That of kv records where it is there, else the first accuracy, else the first loss; at the
    greatest multiple of L, up to 4, that any series was read at.
    """
    long = [view for view in views if view.kind == "length"]
    if not long:
        return None
    view = min(
        long,
        key=lambda v: ((v.task, v.protocol) != ("kv", "records"), v.loss, long.index(v)),
    )
    return Score(view.task, view.protocol, view.metric, FURTHEST)


def leaderboard(views: Sequence[View], found: Sequence[Series]) -> str:
    """The table, best first; every column sorts."""
    of = score(views)
    if of is None:
        return "<p>Nothing was read at several lengths.</p>"
    values = _by_multiple(found, of)
    of = of._replace(far=max((m for m in values if m <= FURTHEST), default=1.0))
    far, near = values.get(of.far, {}), values.get(1.0, {})
    loss = next((v for v in views if v.kind == "length" and v.loss), None)
    other = {}
    if loss and of.metric != "nll":
        place = Score(loss.task, loss.protocol, "nll", of.far)
        other = _by_multiple(found, place).get(of.far, {})
    sign = -1 if of.metric == "nll" else 1
    kept = sorted({*far, *near})
    ranks = rank_intervals(pd.DataFrame({str(i): sign * far[i] for i in kept if i in far}))
    head = [
        "series",
        f"{of.name} at {of.far:g}x [95 %]",
        "ranks",
        "at 1x",
        *([f"{loss.score} at {of.far:g}x"] if loss and other else []),
        "effective length, tokens",
        "seeds",
        "below the gate",
        "parameters",
        "commit",
    ]
    lines = []
    nothing = pd.Series(dtype=float)
    for i in sorted(kept, key=lambda i: _place(i, far, sign, found[i].label)):
        s = found[i]
        here, within = (values.get(i, nothing) for values in (far, near))
        cells = [
            (escape(s.label), s.label),
            (_interval(here, of), _plain(here, of)),
            _ranks(*ranks.get(str(i), (0, 0))),
            (number(_plain(within, of)), _plain(within, of)),
        ]
        if other:
            perplexity = _mean_perplexity(other.get(i, nothing))
            cells.append((number(perplexity), perplexity))
        length = _effective(s, of)
        below = s.rows.loc[(s.rows["mark"] != "ok") & (s.rows["task"] == of.task), "run"].nunique()
        params = s.rows["params"].dropna()
        cells += [
            (str(length), length.tokens if hasattr(length, "tokens") else math.nan),
            *((str(n), n) for n in (s.rows["run"].nunique(), below)),
            (f"{params.iloc[0]:,}" if len(params) else "-", params.iloc[0] if len(params) else 0),
            (escape(", ".join(sorted({c[:10] for c in s.rows["commit"]} - {""}))), ""),
        ]
        lines.append(f'<tr class="s" data-s="{i}">' + "".join(map(_cell, cells)) + "</tr>")
    titles = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    return (
        f'<div class="scroll"><table class="sorts"><thead><tr>{titles}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _ranks(best: int, worst: int) -> tuple[str, float]:
    """As text, and a number to sort by; a series that was not read so far has none."""
    if best == 0:
        return "-", math.nan
    return (f"{best}–{worst}" if worst > best else str(best)), best + worst / 1000


def _cell(cell: tuple) -> str:
    words, value = cell
    if isinstance(value, str) or math.isnan(value):
        return f"<td>{words}</td>"
    return f'<td data-v="{float(value):.6g}">{words}</td>'


def _place(i: int, far: dict[int, pd.Series], sign: int, label: str) -> tuple:
    """Best first; what was not read so far comes last, by name."""
    return (0, -sign * far[i].mean(), label) if i in far else (1, 0.0, label)


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


def _plain(values: pd.Series, of: Score) -> float:
    if values.empty:
        return math.nan
    return float(np.exp(values.mean())) if of.metric == "nll" else float(values.mean())


def _mean_perplexity(values: pd.Series) -> float:
    return float(np.exp(values.mean())) if len(values) else math.nan


def _interval(values: pd.Series, of: Score) -> str:
    low, high = t_interval(values) if len(values) >= 3 else (math.nan, math.nan)
    if of.metric == "nll":
        low, high = np.exp(low), np.exp(high)
    else:
        low, high = max(low, 0.0), min(high, 1.0)
    return interval(_plain(values, of), low, high)


def _effective(s: Series, of: Score):
    rows = s.rows[(s.rows["task"] == of.task) & (s.rows["protocol"] == of.protocol)]
    rows = rows.assign(status=rows["mark"])
    found = effective_lengths(Series(s.scheme, s.data, s.extension, s.status, s.label, rows))
    return found.get((of.task, of.protocol), "-")
