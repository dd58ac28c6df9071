"""Recorder: turns what a task measures into rows with intervals, and the scores behind them into
items.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from extrap.data.trials.base import checksum
from extrap.results.stats.intervals import (
    bootstrap_mean,
    bootstrap_share,
    depth_summaries,
    t_interval,
    wilson,
)
from extrap.tasks.base import Counter, Progress, Result
from extrap.utils.errors import OutOfRange

TRAINED = 0.9
"""Accuracy within the training length from which a run counts as having learned a task."""
OF_ITEMS = ("protocol", "length", "depth")


class Recorder:
    """Rows and items at the coordinates given so far; `at` adds coordinates and shares both.

    Rows get their status in `result`, but `diverged` at once if a value is nan, or if a mean is of
    sums that are no finite numbers.
    """

    def __init__(self, result: Result | None = None, **where: Any):
        kept = result or Result()
        self.rows = kept.rows
        self.items = kept.items
        self.where = where

    def at(self, **more: Any) -> "Recorder":
        kept = Result(self.rows, self.items)
        where = self.where | more
        return Recorder(kept, **where)

    @contextmanager
    def within_range(self) -> Iterator["Recorder"]:
        """Yields a recorder whose rows and items are kept unless the model raises OutOfRange, which
        ends the block.
        """
        part = Recorder(**self.where)
        try:
            yield part
        except OutOfRange:
            return
        self.rows += part.rows
        self.items += part.items

    def value(self, metric: str, value: float, **more: Any) -> None:
        """Records an exact number, or one whose interval and counts are among `more`; bounds that
        are nan, as of too few units, are left out.
        """
        kept = dict(more)
        for bound in ("low", "high"):
            if np.isnan(kept.get(bound, 0.0)):
                del kept[bound]
        lost = {"status": "diverged"} if np.isnan(value) else {}
        measured = {"metric": metric, "value": float(value)}
        self.rows.append(self.where | lost | kept | measured)

    def proportion(
        self, metric: str, hits: np.ndarray, tokens: int | None = None, **more: Any
    ) -> None:
        """Records the share of hits (n,), 0 or 1 of independent trials, with a Wilson interval, or
        nan if one of them is nan; tokens: number of scored tokens, by default one of each trial.
        """
        n = len(hits)
        low, high = wilson(hits.sum(), n)
        counts = {"n": n, "tokens": tokens or n}
        self.value(metric, hits.mean(), low=low, high=high, **counts, **more)

    def share(self, metric: str, correct: np.ndarray, **more: Any) -> None:
        """Records the share of right answers, correct (trials, questions), bootstrapped over
        trials, whose questions are not independent.
        """
        value, low, high = bootstrap_share(correct)
        counts = {"n": len(correct), "tokens": correct.size}
        self.value(metric, value, low=low, high=high, **counts, **more)

    def mean(self, metric: str, values: Tensor | np.ndarray, **more: Any) -> None:
        """Records the mean of values (N,) of N >= 2 independent inputs with a 95 % t-interval."""
        numbers = np.asarray(values, float)
        if numbers.ndim != 1:
            raise ValueError(f"{metric}: mean takes values (N,), got an array {numbers.shape}")
        low, high = t_interval(numbers)
        mean = numbers.mean()
        self.value(metric, mean, low=low, high=high, n=len(numbers), **more)

    def along(
        self, metric: str, values: Tensor, axis: str, at: Iterable[float], **more: Any
    ) -> None:
        """Records the mean of values (N, K) at each of K places on an axis."""
        for place, column in zip(at, values.T, strict=True):
            self.mean(metric, column, axis=axis, at=float(place), **more)

    def per_token(
        self, metric: str, sums: np.ndarray, tokens: int | np.ndarray
    ) -> tuple[float, float]:
        """Records the mean over all tokens of sums (documents,), each over so many scored tokens,
        bootstrapped over documents; its status is `diverged` if a sum is no finite number. Returns
        the interval.
        """
        over = np.broadcast_to(tokens, sums.shape)
        scored = int(over.sum())
        return self._ratio(metric, sums, over, scored)

    def loss(
        self, sums: np.ndarray, tokens: int, sizes: np.ndarray, text: np.ndarray | None = None
    ) -> None:
        """Records nll (nats per token) and, where the tokens end any byte, bits_per_byte = nats /
        ln 2 / bytes; with the scored text (documents, tokens) their items as well.

        sums, sizes (documents,): nats and bytes behind the `tokens` scored tokens of each.
        """
        self.per_token("nll", sums, tokens)
        scored = tokens * len(sums)
        bit = math.log(2)
        if sizes.sum() > 0:
            self._ratio("bits_per_byte", sums, sizes, scored, bit)
        if text is not None:
            self.documents({"nll_sum": sums}, tokens, text)

    def documents(
        self, sums: Mapping[str, np.ndarray], tokens: int | np.ndarray, *text: np.ndarray
    ) -> None:
        """Records items: sums {metric: (documents,)} and scored tokens of each document, and the
        checksum of the text; nothing if a sum is no finite number.
        """
        if not all(np.isfinite(each).all() for each in sums.values()):
            return
        self.drawn(*text)
        for metric, each in sums.items():
            self.scores(metric, each)
        first = next(iter(sums.values()))
        documents = len(first)
        self.scores("tokens", np.broadcast_to(tokens, documents))

    def _ratio(
        self, metric: str, sums: np.ndarray, over: np.ndarray, tokens: int, unit: float = 1.0
    ) -> tuple[float, float]:
        """Records sum(sums) / sum(over) / unit with its interval, and returns the interval."""
        value = sums.sum() / over.sum() / unit
        counts = {"n": len(sums), "tokens": tokens}
        if not np.isfinite(sums).all():
            self.value(metric, value, status="diverged", **counts)
            return math.nan, math.nan
        low, high = bootstrap_mean(sums, over)
        low /= unit
        high /= unit
        self.value(metric, value, low=low, high=high, **counts)
        return low, high

    def curve(self, correct: np.ndarray, depths: Sequence[float]) -> None:
        """Records the summaries of a curve over depth (intervals.depth_contrasts), bootstrapped
        over trials; none where the depths lack 0, 1 or one from .25 to .75. correct: (trials,
        depths).
        """
        ends = {0.0, 1.0} <= {*depths}
        middle = any(0.25 <= depth <= 0.75 for depth in depths)
        if not (ends and middle):
            return
        counts = {"n": len(correct), "tokens": correct.size}
        summaries = depth_summaries(correct, depths)
        for metric, (value, low, high) in summaries.items():
            self.value(metric, value, low=low, high=high, **counts)

    def answers(
        self, scores: dict[str, np.ndarray], places: Mapping[str, float], tokens: int | None = None
    ) -> None:
        """Records a proportion of every metric {metric: (trials,)}; items: the first metric of each
        trial and the places.
        """
        for metric, hits in scores.items():
            self.proportion(metric, hits, tokens)
        first = next(iter(scores))
        self.scores(first, scores[first])
        for metric, value in places.items():
            self.item(metric, "all", value)

    def item(self, metric: str, item: int | str, value: float) -> None:
        cell = {name: self.where[name] for name in OF_ITEMS if name in self.where}
        scored = {"metric": metric, "item": item, "value": float(value)}
        self.items.append(cell | scored)

    def scores(self, metric: str, values: Iterable[float], prefix: str = "") -> None:
        """Records an item of every trial or document, numbered from 0 behind the prefix; nothing
        if one of them is nan.
        """
        found = [float(value) for value in values]
        if np.isnan(found).any():
            return
        for i, value in enumerate(found):
            item = f"{prefix}{i}" if prefix else i
            self.item(metric, item, value)

    def drawn(self, *arrays: np.ndarray) -> None:
        """Records the checksum of the data behind the scores of a protocol and length."""
        self.item("drawn", "all", checksum(*arrays))

    @property
    def passed(self) -> set[str | None]:
        """Returns the protocols whose gate reaches 0.9."""
        gates = [row for row in self.rows if row["metric"] == "gate"]
        return {row.get("protocol") for row in gates if row["value"] >= TRAINED}

    def by_gate(self) -> Result:
        """Returns the rows of every protocol with the status `ok`, or `not trained` if its gate is
        below 0.9 or missing; rows without a protocol are `ok`. Raises ValueError if none of the
        rows is a gate: all of them would be `not trained`, whatever the run learned.
        """
        metrics = {row["metric"] for row in self.rows}
        if metrics and "gate" not in metrics:
            raise ValueError(
                "no gate among the rows; record one at the training length with share('gate', ...),"
                " or return recorder.result()"
            )
        trained = {None, *self.passed}
        return self.result(trained.__contains__)

    def result(self, trained: Callable[[str | None], bool] | bool = True) -> Result:
        """Returns all rows; rows without a status get `ok` or `not trained`. trained: of all rows,
        or by protocol.
        """
        rows = []
        for row in self.rows:
            learned = trained(row.get("protocol")) if callable(trained) else trained
            status = "ok" if learned else "not trained"
            rows.append({"status": status} | row)
        return Result(rows, self.items)


@dataclass(frozen=True)
class Cell:
    """A part of a measurement that a model reads or cannot read as a whole.

    Args:
        where: its coordinates
        tokens: how many it reads
        measure: called with cells and a counter, records it
    """

    where: Mapping[str, Any]
    tokens: int
    measure: Callable[[Recorder, Counter], Any]


def recorded(plan: Sequence[Cell], progress: Progress) -> Recorder:
    """Measures the cells of a plan one after the other. A cell has no rows and no items if the
    model raises OutOfRange in it.
    """
    recorder = Recorder()
    total = sum(cell.tokens for cell in plan)
    counter = Counter(progress, total)
    for cell in plan:
        done = counter.done + cell.tokens
        here = recorder.at(**cell.where)
        with here.within_range() as cells:
            cell.measure(cells, counter)
        counter(done - counter.done)  # tokens that the model cannot read count as well
    return recorder
