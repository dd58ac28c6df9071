"""A task measures a model and returns rows. It knows the model as a callable, and nothing of its
construction.

    model(tokens, last=w) -> logits (B, w, vocab)

`tokens` (B, T) int64 are on the CPU, logits on any device. `last` limits the logits to the last w
positions, so that a long context never costs T x vocab numbers. A task that scores all positions
calls losses_of, which uses `losses` of the model if it has them; a task of retrieval uses `endings`
for texts that begin alike, and generation `continues` and `further`, which read a text on. An
engine has no logits: it has `greedy(prompts, counts)`, the ids and log-probabilities of its answers
to prompts of any lengths, may have `losses`, and reads `requests` texts at once.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from extrap.data.part import Part
from extrap.data.vocabulary import Vocabulary
from extrap.utils.bounds import Multiples
from extrap.utils.errors import UserError

if TYPE_CHECKING:
    from extrap.data.corpora.base import Corpus, Source
    from extrap.model.inspection import InspectedModel

Model = Callable[..., Tensor]
Inside: TypeAlias = "InspectedModel"
"""A model that can be looked into; a name for annotations, which loads no model."""
Progress = Callable[[int, int], Any]


@dataclass(frozen=True)
class Setting:
    """The material that a task measures a model on.

    Args:
        corpus: the text; tasks read its validation split
        vocabulary: the ids
        length: the training length in tokens
    """

    corpus: "Corpus"
    vocabulary: Vocabulary
    length: int

    @property
    def stream(self) -> np.ndarray:
        """Returns the validation text in one piece, (N,) tokens."""
        return self.corpus.stream("validation")


@dataclass
class Result:
    """The rows of a task, and the scores of items behind them.

    Args:
        rows: dicts in the columns of the results schema (extrap.results.schema.MEASURED), at least
            `metric` and `value`, `ok` where they have no status
        items: the per-document or per-trial scores behind them
    """

    rows: list[dict] = field(default_factory=list)
    items: list[dict] = field(default_factory=list)

    def not_trained(self) -> "Result":
        """Returns the result with every `ok` row marked `not trained`."""
        rows = []
        for row in self.rows:
            status = "not trained" if row["status"] == "ok" else row["status"]
            rows.append(row | {"status": status})
        return Result(rows, self.items)

    def lost(self, length: int) -> "Result":
        """Returns the result with every row from this length on without a value, `diverged`, and
        without the items there. Rows that say `diverged` themselves stay with all others.
        """
        if any(row["status"] == "diverged" for row in self.rows):
            return self
        none = {"value": math.nan, "low": math.nan, "high": math.nan, "status": "diverged"}

        def reaches(row: dict) -> bool:
            return (row.get("length") or 0) >= length

        rows = [row | none if reaches(row) else row for row in self.rows]
        items = [item for item in self.items if not reaches(item)]
        return Result(rows, items)


class Task(ABC):
    """A measurement of a model. Parameters are fields of a frozen dataclass, the keys of its YAML
    in conf/task, with their bounds in the annotations (extrap.utils.bounds).
    """

    name: ClassVar[str]
    """Of its YAML, for messages."""
    learned_from: ClassVar[type[Part] | None] = None
    """What a run must have been trained on for its rows to say anything; None where a gate of the
    task shows whether it learned it.
    """

    inner: ClassVar[bool] = False
    """Whether it scores tokens inside a text, answers of several tokens among them, which a reader
    that looks ahead would know.
    """

    words: ClassVar[bool] = False
    """Whether its keys and values may be words of a tokenizer, so that a published checkpoint can
    be asked.
    """

    def error(self, name: str, problem: str, remedy: str) -> UserError:
        """Returns the error of an option, as typed: `task.kv.multiples=[1, 2]: ...`."""
        value = getattr(self, name)
        if isinstance(value, tuple):
            value = list(value)
        option = f"task.{self.name}.{name}={value}"
        return UserError(option, problem=problem, remedy=remedy)

    asks: ClassVar[Literal["logits", "losses", "answers", "reference"]] = "logits"
    """What it wants of a model: logits, losses of a text alone, greedy answers alone, or the
    greedy answers of an engine compared with a reference.
    """

    def check_source(self, source: "Source", train_length: int) -> None:  # noqa: B027
        """Raises UserError if no text of this source, before it is read, can have documents as long
        as `run` needs: a text may take hours.
        """

    @abstractmethod
    def check(self, setting: Setting) -> None:
        """Raises UserError, naming the option, if `run` would fail on this corpus, with this
        vocabulary or at these lengths. Measures nothing.
        """

    @abstractmethod
    def run(self, model: Model, setting: Setting, progress: Progress) -> Result:
        """Measures the model. progress(done, total) counts tokens read. A length at which the model
        raises OutOfRange has no rows.
        """


class Diagnostic(Task):
    """A task that looks inside: `run` gets an extrap.model.inspection.InspectedModel. extrap
    rejects extensions that are no model of their own.
    """


@dataclass(frozen=True, kw_only=True)
class AtLengths(Task):
    """A task at several lengths.

    Args:
        multiples: evaluated lengths over the training length
    """

    multiples: Multiples = (1, 2, 4, 8)

    least: ClassVar[float] = 0
    """Every multiple must be at least this."""
    needs_one: ClassVar[str] = ""
    """What the training length shows, where 1 must be among the multiples."""
    within: ClassVar[bool] = False
    """Whether it may lie within the training length altogether, as a real model is asked: then the
    shortest length shows it.
    """

    def check(self, setting: Setting) -> None:
        if min(self.multiples) < self.least:
            problem = f"expected multiples of the training length of at least {self.least:g}"
            raise self.error("multiples", problem, "leave smaller ones out")
        lengths = self.lengths(setting.length)
        if lengths[0] < 1:
            problem = f"the shortest multiple of train_length={setting.length} is no token"
            raise self.error("multiples", problem, "leave it out")
        if len({*lengths}) < len(self.multiples):
            problem = f"two multiples of train_length={setting.length} are the same length"
            raise self.error("multiples", problem, "leave one out")
        inside = self.within and max(self.multiples) <= 1
        if self.needs_one and 1 not in self.multiples and not inside:
            problem = f"the multiples must include 1, which shows whether {self.needs_one}"
            raise self.error("multiples", problem, "add 1")

    def gate_length(self, train_length: int) -> int:
        """Returns the length of the gate: L, or the shortest length if L is not evaluated."""
        if 1 in self.multiples:
            return train_length
        return self.lengths(train_length)[0]

    def reads_at_once(self, row: Mapping[str, Any], train_length: int) -> int:
        """Returns the tokens of a forward behind a row, by which an extension that follows the
        length of the text acts.
        """
        return row.get("length") or train_length

    def lengths(self, train_length: int) -> list[int]:
        """Returns the evaluated lengths in tokens, from the shortest."""
        return sorted(lengths(self.multiples, train_length))


def losses_of(model: Model, tokens: Tensor, targets: Tensor) -> Tensor:
    """Returns the nats (B, w) of targets (B, w) at the last w positions of tokens (B, T), in
    float32 at least.

    A model may have `losses(tokens, targets)`, which need not hold T x vocab logits at once.
    """
    if hasattr(model, "losses"):
        return model.losses(tokens, targets)
    logits = model(tokens, last=targets.shape[1])
    dtype = torch.promote_types(logits.dtype, torch.float32)
    logits = logits.to(dtype).flatten(0, 1)
    ids = targets.to(logits.device).flatten()
    losses = F.cross_entropy(logits, ids, reduction="none")
    return losses.view(targets.shape)


def lengths(multiples: Sequence[float], train_length: int) -> list[int]:
    """Returns the evaluated lengths in whole tokens, halves rounded up."""
    return [math.floor(m * train_length + 0.5) for m in multiples]


class Counter:
    """The tokens read so far, of `total`, for a progress bar: `counter(n)` adds n."""

    def __init__(self, progress: Progress, total: int):
        self.progress = progress
        self.total = total
        self.done = 0
        progress(0, total)

    def __call__(self, tokens: int) -> None:
        self.done += tokens
        self.progress(self.done, self.total)


def batches(n: int, length: int, batch_tokens: int, model: Any = None) -> Iterator[slice]:
    """Yields slices of n sequences: as many of `length` tokens as batch_tokens hold, or one; for an
    engine at least as many as it reads at once.
    """
    step = max(getattr(model, "requests", 1), batch_tokens // length)
    for start in range(0, n, step):
        stop = min(start + step, n)
        yield slice(start, stop)
