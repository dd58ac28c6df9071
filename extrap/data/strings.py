"""The algorithmic tasks: strings of symbols, and what has to be said about them. Those whose answer
has to be computed: extrap.data.computed.

    copy         BOS  filler   #  x1 ... xn  #    answer  x1 ... xn  #
    reverse      BOS  filler   #  x1 ... xn  #    answer  xn ... x1  #
    even-pairs   BOS  filler   #  x1 ... xn  #    answer  v1 where xn = x1, else v0
    flip-flop    BOS  filler   #  w b  i b ... r  answer  b: the bit that was written last

Symbols of even-pairs are v0 and v1: a binary string has as many 01 as 10 just where its ends are
alike. Flip-flop has n instructions w, i (ignore) or r, then r; flip-flop-sparse has few w and r, so
that the bit stands far back.

The # of a task is a key id of its own, and so are the instructions w, i, r; symbols are value ids,
bits v0 and v1. The closing # of copy and reverse is part of the answer. Training lengths n are
uniform from 1 to `longest`; filler is training text of a random amount, so that every slot of a
sequence is trained. Each sequence of flip-flop scores every read. Sources: arXiv 2305.19466 (copy,
reverse), arXiv 2207.02098 (even pairs), arXiv 2306.00946 (flip-flop). One of each, 3 symbols, no
filler:

    k0 v53 v16 v6 k0 v53 v16 v6 k0
    k1 v53 v16 v6 k1 v6 v16 v53 k1
    k2 v1 v0 v0 k2 v0
    k3 k4 v0 k5 v1 k5 v1 k6 v0
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrap.data.algorithmic import Algorithmic, Judged, Rewritten
from extrap.data.computed import Addition, HintedAddition, Parity, PermutationProduct, Sort
from extrap.data.part import Drawn
from extrap.data.vocabulary import Vocabulary

COPY, REVERSE, EVEN_PAIRS, FLIP_FLOP, WRITE, IGNORE, READ = range(7)  # key ids


class Copy(Rewritten):
    """The answer is the string again."""

    mark = COPY

    def answer(self, symbols: np.ndarray) -> np.ndarray:
        return symbols


class Reverse(Rewritten):
    """The answer is xn ... x1."""

    mark = REVERSE

    def answer(self, symbols: np.ndarray) -> np.ndarray:
        return symbols[::-1]


class EvenPairs(Judged):
    """The answer is 1 if the first bit is the last; both answers are as frequent for n > 1."""

    mark = EVEN_PAIRS

    def answer(self, bits: np.ndarray) -> int:
        return int(bits[0] == bits[-1])

    def chance(self, vocabulary: Vocabulary, n: int) -> float:
        return 1.0 if n == 1 else 0.5  # one symbol is always both first and last


@dataclass(frozen=True, kw_only=True)
class FlipFlop(Algorithmic):
    """n instructions with a bit each and a last read: the first writes, the others are drawn: write
    .1, ignore .8, read .1.

    The answer stands in the last write and in every read since, on average 5 instructions back for
    any n.
    """

    drawn: ClassVar[tuple[float, float, float]] = (0.1, 0.8, 0.1)

    def string(self, rng: np.random.Generator, vocabulary: Vocabulary, n: int) -> Drawn:
        do = rng.choice([WRITE, IGNORE, READ], size=n + 1, p=self.drawn)
        do[0], do[-1] = WRITE, READ
        writes = np.where(do == WRITE, np.arange(n + 1), 0)
        written = np.maximum.accumulate(writes)  # the last write before each instruction
        bits = rng.integers(2, size=n + 1)
        bits = np.where(do == READ, bits[written], bits)
        told = np.stack([vocabulary.key(do), vocabulary.value(bits)], 1).ravel()
        answers = np.zeros((n + 1, 2), bool)
        answers[:, 1] = do == READ
        tokens = np.array([vocabulary.key(FLIP_FLOP), *told])
        return tokens, np.array([False, *answers.ravel()])

    def width(self, n: int) -> int:
        return 2 * n + 3


@dataclass(frozen=True, kw_only=True)
class SparseFlipFlop(FlipFlop):
    """write .01, ignore .98, read .01: the sparse test of the source.

    The answer stands on average (1 - .98^n) / .02 instructions back, 17 at n = 20 and 40 at n = 80.
    """

    drawn: ClassVar[tuple[float, float, float]] = (0.01, 0.98, 0.01)


# seeds of test strings follow from the places here: new ones stand at the end
TASKS: dict[str, Algorithmic] = {
    "copy": Copy(),
    "reverse": Reverse(),
    "even-pairs": EvenPairs(),
    "flip-flop": FlipFlop(),
    "flip-flop-sparse": SparseFlipFlop(),
    "parity": Parity(),
    "sort": Sort(),
    "addition": Addition(),
    "s5": PermutationProduct(),
    "addition-hints": HintedAddition(),
}
LEARNED = {"flip-flop-sparse": "flip-flop"}
"""The strings that a run is trained on, where a test is about others."""
