"""Losses of held-out text: its documents, windows of them, and the rows of their losses.

A window of n tokens that ends before b reads BOS, x[b-n], ..., x[b-2] (n slots, BOS takes the
first) and predicts x[b-n], ..., x[b-1]; BOS itself is never scored.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch

from extrap.data.corpora.base import Source
from extrap.data.part import Part
from extrap.data.text import Text
from extrap.tasks.base import (
    AtLengths,
    Counter,
    Model,
    Progress,
    Result,
    Setting,
    batches,
    losses_of,
)
from extrap.tasks.scoring.recorder import Cell, Recorder, recorded
from extrap.utils.bounds import Count
from extrap.utils.errors import UserError


class TextWindow(NamedTuple):
    """The text [end - width, end) of every document, whose last `scored` predictions count."""

    width: int
    scored: int
    end: int


Plan = Mapping[Any, list[TextWindow]]
Shapes = dict[tuple[int, int], list[int]]
"""{(width, scored): ends} of windows."""


def sliding(n: int, step: int, start: int, end: int) -> list[TextWindow]:
    """Returns windows of n tokens that advance by `step`, their last `step` predictions scored:
    together the tokens start ... end - 1, of which the last window scores what is left.
    """
    stops = range(start + step, end + 1, step)
    found = [TextWindow(n, step, stop) for stop in stops]
    rest = (end - start) % step
    if rest:
        found.append(TextWindow(n, rest, end))
    return found


def shared(plan: Plan) -> Shapes:
    """Returns the windows of all protocols, each once, with the most predictions any scores."""
    most: dict[tuple[int, int], int] = {}
    windows = chain.from_iterable(plan.values())
    for width, scored, end in windows:
        known = most.get((width, end), 0)
        most[width, end] = max(scored, known)
    ends: Shapes = {}
    for (width, end), scored in most.items():
        ends.setdefault((width, scored), []).append(end)
    return {shape: sorted(found) for shape, found in ends.items()}


@dataclass(frozen=True)
class Losses:
    """The losses of a plan.

    Args:
        text: (documents, end) tokens
        sizes: (documents, end) bytes behind each
        by_window: {(width, end): (documents, scored, ...) float64}, as a rule in nats
    """

    text: np.ndarray
    sizes: np.ndarray
    plan: Plan
    by_window: dict[tuple[int, int], np.ndarray]

    def of(self, protocol: Any) -> tuple[np.ndarray, np.ndarray]:
        """Returns losses (documents, tokens, ...) of a protocol and the places of these tokens."""
        windows = self.plan[protocol]
        losses = []
        places = []
        for width, scored, end in windows:
            of_window = self.by_window[width, end]
            losses.append(of_window[:, -scored:])
            places.append(np.arange(end - scored, end))
        return np.concatenate(losses, 1), np.concatenate(places)

    def report(self, cell: Recorder, losses: np.ndarray, places: np.ndarray) -> None:
        """Records losses (documents, tokens) of the tokens at these places."""
        sums = losses.sum(1)
        sizes = self.sizes[:, places].sum(1)
        text = self.text[:, places]
        cell.loss(sums, len(places), sizes, text)


def _cut(setting: Setting, end: int) -> bool:
    """True if a validation document of fewer than `end` tokens was cut by `document_tokens`, which
    counts tokens, or the bytes of prose.
    """
    corpus = setting.corpus
    documents = zip(corpus.documents("validation"), corpus.sizes("validation"), strict=True)
    sizes = [(len(ids), int(behind.sum())) for ids, behind in documents if len(ids) < end]
    return any(corpus.cut in size for size in sizes)


@dataclass(frozen=True, kw_only=True)
class TextLoss(AtLengths):
    """A task on the losses of windows of held-out text.

    Args:
        multiples: lengths over the training length
        documents: of the validation split, spread evenly over the long enough ones
        batch_tokens: tokens per forward, which changes speed and memory only

    Intervals are bootstraps over documents. A loss that is no finite number has the status
    diverged. Items: nll_sum (nats) and tokens of each document.
    """

    documents: Count = 64
    batch_tokens: Count = 4096

    inner: ClassVar[bool] = True
    asks: ClassVar = "losses"
    learned_from: ClassVar[type[Part] | None] = Text

    @abstractmethod
    def reach(self, train_length: int) -> tuple[int, str]:
        """Returns how many tokens of a document are read, and for messages, why."""

    def check_source(self, source: Source, train_length: int) -> None:
        end, _ = self.reach(train_length)
        if source.longest is not None and source.longest < end:
            raise self._too_few(source.option, 0, train_length, source.longest)

    def check(self, setting: Setting) -> None:
        super().check(setting)
        corpus = setting.corpus
        end, _ = self.reach(setting.length)
        found = len(corpus.documents("validation", at_least=end))
        if found < self.documents:
            cut = corpus.cut if _cut(setting, end) else None
            raise self._too_few(corpus.option, found, setting.length, cut, corpus.or_more)

    def _too_few(
        self, option: str, found: int, train_length: int, cut: int | None, or_more: str = ""
    ) -> UserError:
        """Returns the error of too few long documents. cut: the tokens that documents are cut to,
        where that makes them too short.
        """
        end, why = self.reach(train_length)
        advice = f"give more text, or ask for fewer or shorter ones{or_more}"
        if cut is not None:
            advice = f"raise data.corpus.document_tokens={cut}, or ask for shorter ones"
        why = f"{why} of task.{self.name}.multiples"
        problem = f"{found} validation documents have {end} tokens or more, {why}"
        asked = f"task.{self.name}.documents={self.documents} are wanted"
        return UserError(option, problem=problem, remedy=f"{asked}: {advice}")

    def texts(self, setting: Setting) -> tuple[np.ndarray, np.ndarray]:
        """Returns (text, bytes behind each token), (documents, end) int64 each: the first tokens of
        documents spread evenly over the long enough ones.
        """
        corpus = setting.corpus
        end, _ = self.reach(setting.length)
        documents = corpus.documents("validation", at_least=end)
        sizes = corpus.sizes("validation", at_least=end)
        count = len(documents)
        chosen = [i * count // self.documents for i in range(self.documents)]

        def first(each: list[np.ndarray]) -> np.ndarray:
            texts = [each[i][:end] for i in chosen]
            return np.stack(texts).astype(np.int64)

        return first(documents), first(sizes)

    @abstractmethod
    def plans(self, train_length: int) -> dict[Any, Plan]:
        """Returns the windows of every protocol, in groups. A group is left out as a whole if the
        model raises OutOfRange; windows that its protocols share are read once.
        """

    @abstractmethod
    def report(self, read: dict[Any, Losses], train_length: int) -> Result:
        """Returns the rows; read: the losses of the groups."""

    def reads(
        self, group: Any, model: Model, text: np.ndarray, train_length: int
    ) -> tuple[Model, np.ndarray]:
        """Returns the model and the text (documents, end) of a group."""
        return model, text

    def scores(self, model: Model, tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Returns the scores (B, w, ...) of targets (B, w), as a rule their losses in nats."""
        return losses_of(model, tokens, targets)

    def run(self, model: Model, setting: Setting, progress: Progress) -> Result:
        text, sizes = self.texts(setting)
        bos = setting.vocabulary.bos
        read: dict[Any, Losses] = {}

        def measure(group: Any, plan: Plan, windows: Shapes, _: Recorder, counter: Counter) -> None:
            reader, given = self.reads(group, model, text, setting.length)
            found = self._read(reader, given, bos, windows, counter)
            read[group] = Losses(text, sizes, plan, found)

        cells = []
        for group, plan in self.plans(setting.length).items():
            windows = shared(plan)
            per_document = sum(width * len(ends) for (width, _), ends in windows.items())
            tokens = len(text) * per_document
            of_group = partial(measure, group, plan, windows)
            cells.append(Cell({}, tokens, of_group))
        recorded(cells, progress)
        return self.report(read, setting.length)

    @torch.no_grad()
    def _read(
        self, model: Model, text: np.ndarray, bos: int, windows: Shapes, counter: Counter
    ) -> dict[tuple[int, int], np.ndarray]:
        """Returns {(width, end): scores (documents, scored, ...)}."""
        found: dict[tuple[int, int], np.ndarray] = {}
        documents = len(text)
        for (width, scored), ends in windows.items():
            each = []
            document = np.arange(documents).repeat(len(ends))
            stop = np.tile(ends, documents)
            for rows in batches(len(stop), width, self.batch_tokens, model):
                slots = stop[rows, None] - width + np.arange(width)
                read = text[document[rows, None], slots]
                targets = torch.from_numpy(read)
                before = torch.full_like(targets[:, :1], bos)
                tokens = torch.cat([before, targets[:, :-1]], 1)
                last = targets[:, width - scored :]
                scores = self.scores(model, tokens, last)
                each.append(scores.cpu().double().numpy())
                counter(targets.numel())
            of_windows = np.concatenate(each)
            of_window = of_windows.shape[1:]
            by_end = of_windows.reshape(documents, len(ends), *of_window)
            for i, end in enumerate(ends):
                found[width, end] = by_end[:, i]
        return found


@dataclass(frozen=True, kw_only=True)
class LastHalf(TextLoss):
    """The last L/2 tokens before x[e], read with growing contexts: c = L/2, then the multiples, L
    the training length, e the longest context.
    """

    least: ClassVar[float] = 1

    def reach(self, train_length: int) -> tuple[int, str]:
        return max(self.lengths(train_length)), "the longest context"

    def plans(self, train_length: int) -> dict[Any, Plan]:
        half = train_length // 2
        contexts = [half, *self.lengths(train_length)]
        longest = contexts[-1]
        plans: dict[Any, Plan] = {}
        for c in contexts:
            window = TextWindow(c, half, longest)
            plans[c] = {"full": [window]}
        return plans
