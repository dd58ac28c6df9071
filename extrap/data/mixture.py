"""Training batches: text, retrieval and other parts side by side."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

from extrap.data.context import Context
from extrap.data.corpora.base import Corpus, Source
from extrap.data.curriculum import Curriculum, Graded, Switches
from extrap.data.keyvalue import KeyValue
from extrap.data.part import EARLY, Drawn, Part
from extrap.data.text import Text
from extrap.data.trials.base import FEWEST
from extrap.data.vocabulary import Vocabulary
from extrap.utils.bounds import Count, OneOrMore, at_least
from extrap.utils.errors import UserError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
IGNORED = -100  # a target that is not scored


@dataclass
class Batch:
    """The sequences of one training step.

    Args:
        tokens: (B, T) int64, BOS first
        targets: (B, T) int64, the token after each, -100 if not scored
        parts: rows of each part
        early: (B, T) bool, targets that are also scored before the last layer
        scored: places of each part's targets in the flat (B * T,), of targets that are scored once
        echoes: places of early ones, both found on the host, so that no device has to be waited for
        weights: the rest of the weight of a part, all of it for a part that is not named
    """

    tokens: Tensor
    targets: Tensor
    parts: dict[str, slice]
    early: Tensor | None = None
    scored: dict[str, Tensor] = field(default_factory=dict)
    echoes: dict[str, Tensor] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.scored:
            return
        early = torch.zeros_like(self.targets).bool() if self.early is None else self.early
        for part, rows in self.parts.items():
            first = rows.start * self.targets.shape[1]
            targets = self.targets[rows] >= 0
            echoed = targets & early[rows]
            answered = targets & ~early[rows]
            self.scored[part] = answered.flatten().nonzero()[:, 0] + first
            self.echoes[part] = echoed.flatten().nonzero()[:, 0] + first

    def to(self, device: torch.device | str) -> "Batch":
        return self._each(lambda t: t.to(device, non_blocking=True))

    def pin_memory(self) -> "Batch":
        """Returns the batch in memory that a GPU reads while others compute."""
        return self._each(Tensor.pin_memory)

    def _each(self, change: Callable[[Tensor], Tensor]) -> "Batch":
        """Returns the batch with every tensor changed."""

        def by_part(places: dict[str, Tensor]) -> dict[str, Tensor]:
            return {part: change(at) for part, at in places.items()}

        return replace(
            self,
            tokens=change(self.tokens),
            targets=change(self.targets),
            early=None if self.early is None else change(self.early),
            scored=by_part(self.scored),
            echoes=by_part(self.echoes),
        )


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """The training data of a model: windows of text, of retrieval and of other parts.

    Args:
        vocabulary: the ids of text, keys and values
        corpus: the source of the text
        text: the part of running text
        retrieval: the part of key-value retrieval
        length: L, tokens of a training window
        more: further parts by name; null: none
        curriculum: the steps at which a part turns from easy to hard

    A part of size 0 is absent: text only and retrieval only are the controls of the mixture. Easy
    sequences come before hard ones by the curriculum.

    Args:
        tokens: of a step; the sizes then say the proportion of the parts alone, and each has one
            window at least
        lengths: of the windows in equal stages of the training, growing to `length`; a step has as
            many tokens in each
        spread: whether coordinates of a shorter window are spread over `length`, so that each
            growth interpolates the text in place

    Raises UserError for a mixture without parts, for lengths that do not grow to `length`, and for
    a length or a vocabulary into which a part does not fit.
    """

    vocabulary: Vocabulary
    corpus: Source
    text: Text
    retrieval: KeyValue
    length: int = 64
    more: dict[str, Part] | None = None
    curriculum: Curriculum = field(default_factory=Curriculum)
    tokens: Count | None = None
    lengths: OneOrMore[Count] | None = None
    spread: bool = False

    def __post_init__(self) -> None:
        growing = sorted({*(self.lengths or ()), self.length})
        if self.lengths is not None and [*self.lengths] != growing:
            problem = f"expected lengths that grow to data.length={self.length}"
            remedy = f"give [{self.length // 2},{self.length}], say"
            raise UserError("data.lengths", [*self.lengths], problem, remedy)
        if self.tokens is not None and self.parts:
            self._scale(self.tokens / self.step_tokens)
        for name in self.more or {}:
            if name in ("text", "retrieval") or not NAME.fullmatch(str(name)):
                problem = "expected letters, digits, - and _, and neither text nor retrieval"
                raise UserError(f"data.more.{name}", problem=problem, remedy="give it another name")
        if not self.parts:
            problem = "with data.retrieval.size=0 too, there is nothing to train on"
            raise UserError("data.text.size", 0, problem, "set one of the two sizes above 0")
        why = f"for BOS, {FEWEST} records and a query"
        at_least("data.length", self.length, 2 * (FEWEST + 1), why)
        for name, part in self.parts.items():
            part.check(self.option(name), self.vocabulary, self.length)

    def _scale(self, by: float) -> None:
        """Gives every part so many times its windows."""
        scaled = dict(self._every)
        for name, part in self.parts.items():
            scaled[name] = replace(part, size=max(1, round(part.size * by)))
        for name in ("text", "retrieval"):
            object.__setattr__(self, name, scaled.pop(name))
        object.__setattr__(self, "more", scaled or self.more)

    def stages(self, steps: int) -> list[tuple[int, "Mixture"]]:
        """Returns the first step and the mixture of each length, in a training of `steps`."""
        lengths = [*(self.lengths or [self.length])]
        found = list[tuple[int, Mixture]]()
        for n, length in enumerate(lengths):
            own = self
            if length != self.length:
                own = replace(self, length=length, lengths=None, tokens=self.step_tokens)
            found.append((round(n * steps / len(lengths)), own))
        return found

    @property
    def step_tokens(self) -> int:
        """Returns the tokens of a step."""
        return self.length * sum(part.size for part in self.parts.values())

    @staticmethod
    def option(name: str) -> str:
        """Returns the option at which a part stands, for messages."""
        return f"data.{name}" if name in ("text", "retrieval") else f"data.more.{name}"

    @property
    def _every(self) -> dict[str, Part]:
        """Returns all parts by name, absent ones too. The place of a part seeds its draws, so that
        it draws the same whatever the other parts are.
        """
        return {"text": self.text, "retrieval": self.retrieval, **(self.more or {})}

    @property
    def parts(self) -> dict[str, Part]:
        """Returns the parts of a size above 0, in the order of the batch."""
        return {name: part for name, part in self._every.items() if part.size}

    @property
    def weights(self) -> dict[str, float]:
        """Returns the weight of the mean loss of each part in the sum."""
        return {name: part.weight for name, part in self.parts.items()}


class Batches:
    """Training batches: `at(t, switches)` is the batch of step t, the same for every model whose
    parts switch at the same steps (curriculum.py).

    Text is a function of (seed, t) alone; a part with a curriculum is a function of (seed, phase,
    step in the phase).

    Args:
        after: steps of an earlier training that this one continues: all sequences are hard from the
            first step on, and none of the earlier training comes again

    Raises UserError if the training text is shorter than one window.
    """

    def __init__(self, mixture: Mixture, corpus: Corpus, seed: int, steps: int, after: int = 0):
        corpus.check("train", mixture.length)
        self.mixture = mixture
        self.stages = mixture.stages(steps)
        self.stream = corpus.stream("train")
        self.seed = seed
        self.steps = steps
        self.after = after

    def __len__(self) -> int:
        return self.steps

    def __getitem__(self, t: int) -> Batch:
        """Returns the batch of step t for a model whose parts all switch at the latest."""
        return self.at(t, self.switches())

    def switches(self) -> Switches:
        """Returns the state of the curriculum before the first step."""
        graded = [name for name, part in self.mixture.parts.items() if isinstance(part, Graded)]
        return Switches(self.mixture.curriculum, self.steps, [] if self.after else graded)

    def at(self, t: int, switches: Switches) -> Batch:
        mixture = [own for start, own in self.stages if start <= t][-1]
        drawn = []
        weights = dict[str, float]()
        for i, (name, part) in enumerate(mixture._every.items()):
            if not part.size:
                continue
            phase, step, difficulty = 0, t, 1.0
            if self.after:
                phase = 3
                step = self.after + t
            elif isinstance(part, Graded):
                switch = switches.at(name)
                phase, step = (1, t) if t < switch else (2, t - switch)
                difficulty = mixture.curriculum.difficulty(t, switch, self.steps)
            rng = np.random.default_rng((self.seed, i, phase, step))
            if name in switches.decided:
                weights[name] = mixture.curriculum.weight(difficulty)
            context = Context(rng, mixture.vocabulary, self.stream, mixture.length)
            drawn.append(part.draw(context, difficulty))
        return _batch(mixture, drawn, weights)


def _batch(mixture: Mixture, drawn: list[Drawn], weights: dict[str, float]) -> Batch:
    """Returns the sequences of all parts, one part after the other."""
    sequences = torch.from_numpy(np.concatenate([tokens for tokens, _ in drawn]))
    scored = torch.from_numpy(np.concatenate([marks for _, marks in drawn]))
    early = scored == EARLY
    ends = [0, *accumulate(part.size for part in mixture.parts.values())]
    rows = map(slice, ends, ends[1:])
    return Batch(
        tokens=sequences[:, :-1],
        targets=sequences[:, 1:].masked_fill(scored == 0, IGNORED),
        parts=dict(zip(mixture.parts, rows, strict=True)),
        early=early if early.any() else None,
        weights=weights,
    )
