"""Training batches: text, retrieval and other parts side by side, batch t a pure function of (seed, t, total steps)."""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from extrap.data.corpora.base import Corpus, Encoded, Source
from extrap.data.keyvalue import FEWEST, KeyValue
from extrap.data.part import Part
from extrap.data.text import Text
from extrap.data.vocabulary import Vocabulary
from extrap.utils.errors import UserError

MOST = 2**20  # windows of a part in a step; more fill any memory
IGNORED = -100  # a target that is not scored


@dataclass
class Batch:
    """tokens (B, T) int64, BOS first; targets (B, T) int64, the token after each, -100 where not scored; parts: rows of each part."""

    tokens: Tensor
    targets: Tensor
    parts: dict[str, slice]

    def to(self, device: torch.device | str) -> "Batch":
        return Batch(self.tokens.to(device, non_blocking=True), self.targets.to(device, non_blocking=True), self.parts)


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """What a model is trained on: windows of `length` tokens of text, of retrieval and of `more` parts by name, text from `corpus`.

    A part of size 0 is absent: text only and retrieval only are the controls of the mixture.
    Raises UserError for a mixture with no part, and for a length or a vocabulary that a part does not fit in.
    """

    vocabulary: Vocabulary
    corpus: Source
    text: Text
    retrieval: KeyValue
    length: int = 64
    more: dict[str, Part] | None = None

    def __post_init__(self) -> None:
        for path, part in self._paths.items():
            if not 0 <= part.size <= MOST:
                raise UserError(f"{path}.size={part.size}: give a whole number of windows a step up to {MOST}, 0 to leave it out")
            if not 0 < part.weight < math.inf:
                raise UserError(f"{path}.weight={part.weight}: give a number above 0; {path}.size=0 leaves it out")
        if not self.parts:
            raise UserError("data.text.size=0 data.retrieval.size=0: nothing to train on; give one of them a size")
        if self.length < (least := 2 * (FEWEST + 1)):
            raise UserError(f"data.length={self.length}: give at least {least} tokens, room for BOS, {FEWEST} records and a query")
        for path, part in self._paths.items():
            if part.size:
                part.check(path, self.vocabulary, self.length)

    @property
    def source(self) -> Encoded:
        """The text as the tokens of the vocabulary."""
        return Encoded(self.corpus, self.vocabulary.encoder)

    @property
    def _every(self) -> dict[str, Part]:
        """Parts by name, absent ones too. The place of each seeds its draws, so that it draws the same whatever the others are."""
        return {"text": self.text, "retrieval": self.retrieval, **(self.more or {})}

    @property
    def _paths(self) -> dict[str, Part]:
        """The same by option."""
        return {f"data.{name}" if i < 2 else f"data.more.{name}": part for i, (name, part) in enumerate(self._every.items())}

    @property
    def parts(self) -> dict[str, Part]:
        """The parts that are there, in the order of the batch."""
        return {name: part for name, part in self._every.items() if part.size}

    @property
    def weights(self) -> dict[str, float]:
        """What the mean loss of each part counts in the sum."""
        return {name: part.weight for name, part in self.parts.items()}


class Batches:
    """`batches[t]` is the batch of step t, the same for every model trained with that seed and number of steps.

    A map-style data set of torch: DataLoader(batches, batch_size=None, sampler=range(start, steps)) goes on at any step.
    after: steps of a training that this one follows on. Random numbers go on where that one ended, and parts draw as at its end.
    Raises UserError when the training text is shorter than one window.
    """

    def __init__(self, mixture: Mixture, corpus: Corpus, seed: int, steps: int, after: int = 0):
        corpus.check("train", mixture.length)
        self.mixture, self.stream, self.seed, self.steps, self.after = mixture, corpus.stream("train"), seed, steps, after

    def __len__(self) -> int:
        return self.steps

    def __getitem__(self, t: int) -> Batch:
        m, progress = self.mixture, 1 - 1 / self.after if self.after else t / self.steps
        drawn = [
            part.draw(np.random.default_rng((self.seed, self.after + t, i)), self.stream, m.vocabulary, m.length, progress)
            for i, part in enumerate(self.mixture._every.values())
            if part.size
        ]
        sequences, scored = (torch.from_numpy(np.concatenate(arrays)) for arrays in zip(*drawn, strict=True))
        return Batch(sequences[:, :-1], sequences[:, 1:].masked_fill(~scored, IGNORED), self._rows())

    def _rows(self) -> dict[str, slice]:
        ends = np.cumsum([0] + [part.size for part in self.mixture.parts.values()]).tolist()
        return {name: slice(*rows) for name, rows in zip(self.mixture.parts, pairwise(ends), strict=True)}
