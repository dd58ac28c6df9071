"""The leaderboard: a line per series with its score past the training length, its interval and the
ranks that it may have; and the sentence that a reader takes from it.
"""

import math
from collections.abc import Sequence
from html import escape

import pandas as pd

from extrap.figures.report.text import TASKS, interval, measure, number, table
from extrap.figures.report.views import View
from extrap.results.ranking import NONE, Place, Score, by_multiple, places
from extrap.results.series import Series, span_of_steps, steps


def words(of: Score, values: pd.Series) -> str:
    """Returns the mean over seeds as text, with its interval from three seeds on."""
    return interval(*of.interval(values))


def score(views: Sequence[View]) -> Score | None:
    """Returns what series are ranked by: retrieval of records (kv) if the rows have it, else the
    first accuracy, else the first loss; None without several lengths.
    """
    long = [view for view in views if view.kind == "length"]
    if not long:
        return None

    def rank(view: View) -> tuple[bool, bool]:
        return (view.task, view.protocol) != ("kv", "records"), view.loss

    view = min(long, key=rank)
    return Score(view.task, view.protocol, view.metric)


def leaderboard(views: Sequence[View], found: Sequence[Series]) -> tuple[str, str]:
    """Returns (the sentence to take from it, the table with the best series first)."""
    of = score(views)
    if of is None:
        return "This study has no score at several lengths.", "<p>No leaderboard.</p>"
    multiple, order = places(found, of)
    text = next((v for v in views if v.kind == "length" and v.loss), None)
    loss = Score(text.task, text.protocol, "nll") if text and of.sign > 0 else of
    other = by_multiple(found, loss).get(multiple, {}) if loss != of else {}
    head = ["series", f"{measure(*of)} at {multiple:.3g}x [95 %]", "ranks", "worst seed"]
    head += ["worst depth", "at 1x"]
    head += [f"{measure(*loss)} at {multiple:.3g}x"] if other else []
    head += ["effective length, tokens", "seeds", "below the gate", "parameters"]
    spans = [span_of_steps(found[one.series].rows) for one in order]
    uneven = bool(steps(pd.concat([found[one.series].rows for one in order])))
    head += ["steps of training"] * uneven
    lines = []
    for one in order:
        rows = found[one.series].rows
        scores = [(words(of, one.far), of.mean(one.far)), _ranks(one.best, one.worst)]
        deep = f"{number(one.worst_depth)} at {one.depth:g}" if one.depth >= 0 else "-"
        worst = [(number(one.worst_seed), one.worst_seed), (deep, one.worst_depth)]
        means = [of.mean(one.near)]
        if other:
            means.append(loss.mean(other.get(one.series, NONE)))
        seeds = int(rows["run"].nunique())
        told = f"{seeds}, {one.diverged} diverged" if one.diverged else str(seeds)
        size = float(rows["params"].astype(float).max()) or math.nan  # 0: unknown
        cells = [found[one.series].label, *scores, *worst]
        cells += [(number(mean), mean) for mean in means]
        cells.append((str(one.length), one.length.tokens))
        cells += [(told, float(seeds)), (str(one.below), float(one.below))]
        cells.append(("-" if math.isnan(size) else f"{size:,.0f}", size))
        lines.append(cells)
    for line, (least, most) in zip(lines, spans, strict=True):
        if uneven:
            said = f"{least:g}" if least == most else f"{least:g} to {most:g}"
            line.append((said, most) if most else "-")
    ranked = [one for one in order if len(one.far)]
    shown = [one.series for one in order]
    return _lead(found, ranked, of, multiple), table(head, lines, kind="sorts", series=shown)


def _lead(found: Sequence[Series], order: Sequence[Place], of: Score, multiple: float) -> str:
    """Returns who is best, who may be as good, who is last, and how many keep their score."""
    if not order:
        return "No series was evaluated beyond its training length."
    name = {one.series: f"<b>{escape(found[one.series].label)}</b>" for one in order}
    best = order[0]
    last = order[-1]
    said = ""
    every = pd.concat([found[one.series].rows for one in order])
    ranking = (every["task"] == of.task) & (every["protocol"] == of.protocol)
    if of.sign > 0 and (every.loc[ranking, "mark"] != "ok").all():
        task = TASKS.get(of.task, of.task).rstrip(",")
        said = f"No run here has learned {escape(task)} within "
        said += "its training length: the numbers below say nothing about length. "
    said += f"At {multiple:.3g} times the training length, {name[best.series]} has the best "
    said += f"{escape(measure(*of))}: {words(of, best.far)}."
    if len(order) > 1:
        equal = [name[one.series] for one in order[1:] if one.best == 1]
        said += _equal(equal, min(len(one.far) for one in order))
        said += f" The last of {len(order)}, {name[last.series]}, has {words(of, last.far)}."
    if of.sign > 0:
        lengths = [(one, found[one.series].rows["train_length"].iloc[0]) for one in order]
        reached = [one.length.tokens / trained for one, trained in lengths]
        kept = sum(length > multiple * (1 - 1e-9) for length in reached)  # a mean of logarithms
        said += f" {kept} of {len(order)} series keep 85 % of their score at L to this length."
    return said


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
