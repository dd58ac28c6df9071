"""A candidate beside the series of a study: its place among them, and its difference to each by
length and by depth.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from extrap.results.comparison.cells import Scores, items, measured
from extrap.results.comparison.contrasts import Contrast, Values, adjusted, between
from extrap.results.comparison.contrasts import Scores as Found
from extrap.results.ranking import RETRIEVAL, TEXT, Place, Score, places
from extrap.results.rows import comparable
from extrap.results.series import Series, diverged, one_factor, select, whole
from extrap.utils.errors import UserError

MODEL = ["model", "extension", "set_for"]


class Beside(NamedTuple):
    """The series of a study and of published rows, side by side.

    Args:
        found: the series of both
        yours: the indices of the candidates of your study among them
        candidate: the index of the one in question
        multiple: the length at which series are ranked, in training lengths
        order: the places, the best one first
    """

    found: list[Series]
    yours: list[int]
    candidate: int
    multiple: float
    order: list[Place]

    @property
    def place(self) -> Place:
        """The place of the candidate."""
        return next(one for one in self.order if one.series == self.candidate)

    @property
    def others(self) -> list[Series]:
        """The other series, the best one first."""
        places = [one.series for one in self.order if one.series != self.candidate]
        return [self.found[i] for i in places]


def joined(own: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of both. A model that your study has measured replaces the same model of the
    others, a curve of training alone the same curve. Raises UserError for other text and for
    another training length.
    """
    mine = _train_lengths(own)
    known = _train_lengths(others)
    if not {*mine} <= {*known}:
        studies = ", ".join(others["study"].unique())
        problem = f"{studies} trains at {known[0]} tokens"
        raise UserError("data.length", mine[0], problem, f"give data.length={known[0]}")
    # a job under an extension writes the curve of its run as one of the plain reading
    curves = (own["task"] == "train").to_numpy()
    models = _models(own)
    again = _models(others).isin(models[~curves])
    again |= _models(others).isin(models) & (others["task"] == "train").to_numpy()
    kept = others[~again]
    rows = pd.concat([own, kept], ignore_index=True)
    return comparable(rows)


def beside(rows: pd.DataFrame, study: str, label: str, config: str) -> Beside:
    """Returns the places of the series of `joined` rows.

    Args:
        study: yours
        label: of the candidate
        config: the hash of an evaluation of its retrieval, in one of its runs

    Raises UserError if the candidate has no retrieval, because its trainings diverged, say.
    """
    found = whole(rows)
    yours = [i for i, s in enumerate(found) if set(s.rows["study"]) == {study}]
    named = [i for i in yours if found[i].scheme == label]
    candidates = [i for i in named if config in set(found[i].rows["config"])]
    multiple, order = places(found, RETRIEVAL)
    placed = {one.series for one in order}
    if not placed.intersection(candidates):
        raise _without_rank(rows[(rows["study"] == study) & (rows["scheme"] == label)])
    return Beside(found, yours, candidates[0], multiple, order)


def _without_rank(own: pd.DataFrame) -> UserError:
    """Returns the error about a candidate without retrieval."""
    lost = diverged(own)
    if lost and lost == {*own["run"]}:
        problem = f"all trainings of the candidate diverged ({', '.join(sorted(lost))})"
        return UserError("train", problem=problem, remedy="give a smaller train.lr")
    problem = f"no {RETRIEVAL.task} {RETRIEVAL.metric} of the candidate"
    return UserError("task", problem=problem, remedy="keep kv among the tasks")


def board(of: Beside) -> pd.DataFrame:
    """Returns the leaderboard, a line a series: score, low and high at the multiple that ranks,
    ranks from best to worst, the perplexity there, the effective length.
    """
    lines = []
    for one in of.order:
        s = of.found[one.series]
        loss = select(s.rows, **TEXT._asdict())
        far = loss.loc[loss["multiple"] == of.multiple]
        losses = far.groupby("seed")["value"].mean()
        sizes = s.rows["params"].astype(float)
        score, low, high = RETRIEVAL.interval(one.far)
        line = {
            "series": s.label,
            "yours": one.series in of.yours,
            "score": score,
            "low": low,
            "high": high,
            "best": one.best,
            "worst": one.worst,
            "worst_seed": one.worst_seed,
            "worst_depth": one.worst_depth,
            "depth": one.depth,
            "near": RETRIEVAL.mean(one.near),
            "perplexity": TEXT.mean(losses),
            "length": one.length.tokens,
            "least": one.length.least,
            "seeds": s.rows["run"].nunique(),
            "below": one.below,
            "diverged": one.diverged,
            "parameters": float(sizes.max()),
        }
        lines.append(line)
    return pd.DataFrame(lines)


def differences(of: Beside, scores: Scores) -> pd.DataFrame:
    """Returns the candidate less every other series, a row for each length of retrieval and of
    text, and for each depth of a length: other, task, length, multiple, depth (nan for all), a, b,
    difference, low, high, p, adjusted (Holm over the others), seeds, items.

    scores: of single documents and trials by file; pairs of series that lack them rest on seeds.
    """
    candidate = of.found[of.candidate]
    lines = []
    length = int(candidate.rows["train_length"].iloc[0])
    own = candidate.label
    for score, depth in _places(candidate):
        values = {}
        found = {}
        for s in (candidate, *of.others):
            part = _part(s, score, depth)
            values[s.label] = measured(part)
            found[s.label] = _items(scores, part, values[s.label], (score.protocol, depth))
        others = [label for label in values if label != own]
        pairs = []
        for other in others:
            pair = between(values[own], values[other], found[own], found[other])
            pairs.append(pair)
        for other, pair in zip(others, adjusted(pairs, together=False), strict=True):
            wanted = [one for one in pair if _wanted(one, score)]
            lines += [_line(other, one, length, depth) for one in wanted]
    return pd.DataFrame(lines)


def either(first: Scores, second: Scores) -> Scores:
    """Returns the items that the first has, else those of the second."""

    def scores(stem: str) -> tuple[Path, pd.DataFrame | None]:
        found = first(stem)
        return found if found[1] is not None else second(stem)

    return scores


def _train_lengths(rows: pd.DataFrame) -> list[int]:
    return sorted(int(n) for n in rows["train_length"].unique())


def _models(rows: pd.DataFrame) -> pd.MultiIndex:
    """Returns the trained model of each row, whatever its seed, and its extension."""
    pairs = zip(rows["run"], rows["seed"], strict=True)
    model = [run.removesuffix(f"-s{seed}") for run, seed in pairs]
    named = rows.assign(model=model, set_for=one_factor(rows))
    return pd.MultiIndex.from_frame(named[MODEL])


def _places(candidate: Series) -> Iterator[tuple[Score, float | None]]:
    """Yields whole texts, then the depths at which records are asked for."""
    yield RETRIEVAL, None
    yield TEXT, None
    found = select(candidate.rows, **RETRIEVAL._asdict())
    depths = found["depth"].dropna()
    for depth in sorted(depths.unique()):
        yield RETRIEVAL, float(depth)


def _part(s: Series, score: Score, depth: float | None) -> Series:
    rows = select(s.rows, **score._asdict())
    if depth is not None:
        rows = rows[rows["depth"] == depth]
    return replace(s, rows=rows)


def _items(scores: Scores, s: Series, values: Values, at: tuple[str, float | None]) -> Found:
    """Returns the items of a series in one protocol, at one depth or at all."""
    protocol, depth = at

    def there(stem: str) -> tuple[Path, pd.DataFrame | None]:
        path, table = scores(stem)
        if table is None:
            return path, None
        wanted = table["protocol"] == protocol
        if depth is not None:
            wanted &= table["depth"] == depth
        return path, table[wanted]

    found, _ = items(there, s, values)
    return found


def _wanted(one: Contrast, score: Score) -> bool:
    return one.cell.metric == score.metric


def _line(other: str, one: Contrast, train_length: int, depth: float | None) -> dict:
    found = one.difference
    cell = one.cell
    place = {"other": other, "task": cell.task, "length": cell.length}
    place |= {"multiple": cell.length / train_length, "depth": depth}
    values = {"a": one.a, "b": one.b, "difference": found.value, "low": found.low}
    values |= {"high": found.high, "p": found.p, "adjusted": one.p}
    return place | values | {"seeds": found.seeds, "items": found.items}
