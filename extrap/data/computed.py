"""Strings whose answer has to be computed: parity, sorting, addition, products of permutations.

    parity      BOS  filler   #  x1 ... xn  #    answer  v1 where the number of v1 among the bits is
                odd, else v0
    sort        BOS  filler   #  x1 ... xn  #    answer  the symbols in the order of their ids  #
    addition    BOS  filler   #  a1 ... an  +  b1 ... bn  =    answer  s1 ... s(n+1), digits v0 ...
                v9 from the lowest
    addition-hints          # h1 a1 ... hn an + h1 b1 ... hn bn =    answer  h1 s1 ... h(n+1) s(n+1)
    s5          BOS  filler   #  g1 ... gn  #    answer  where g1, then g2, ..., then gn take five
                things, a value for each

#, +, =, hints h and the two permutations are key ids; the rest is as in extrap.data.strings. Hints
name the place of a digit: a stretch of neighbours out of all hints, in their order, that begins
anywhere, so that training names more places than its numbers have. Sources: arXiv 2310.16028
(addition from the lowest digit, index hints, parity, sort), arXiv 2404.08819 (S5 as the word
problem that state tracking is measured by; here over two generators, the exchange of the first two
and the cycle of all five). One of each, 3 symbols, no filler:

    k7 v1 v1 v1 k7 v1
    k8 v46 v60 v56 k8 v46 v56 v60 k8
    k9 v7 v9 v8 k10 v5 v9 v9 k11 v2 v9 v8 v1
    k9 k40 v7 k41 v9 k42 v8 k10 k40 v5 k41 v9 k42 v9 k11 k40 v2 k41 v9 k42 v8 k43 v1
    k12 k14 k14 k14 k12 v3 v4 v0 v1 v2
"""

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrap.data.algorithmic import Algorithmic, Judged, Rewritten
from extrap.data.part import Drawn
from extrap.data.vocabulary import Vocabulary
from extrap.utils.bounds import at_most

PARITY, SORT, ADDITION, PLUS, EQUALS, S5, EXCHANGE, CYCLE, HINTS = range(7, 16)
"""Key ids; hints are all from HINTS on."""
MARKS = HINTS
GENERATORS = {EXCHANGE: (1, 0, 2, 3, 4), CYCLE: (1, 2, 3, 4, 0)}
"""Place that each thing is taken to."""


class Parity(Judged):
    """The answer is 1 if the number of ones is odd."""

    mark, marks = PARITY, MARKS

    def answer(self, bits: np.ndarray) -> int:
        return int(bits.sum() % 2)


class Sort(Rewritten):
    """The answer has the same symbols in the order of their ids."""

    mark, marks = SORT, MARKS

    def answer(self, symbols: np.ndarray) -> np.ndarray:
        return np.sort(symbols)

    def chance(self, vocabulary: Vocabulary, n: int) -> float:
        """Returns n! / (m1! m2! ...) / values^n for m1, m2, ... as even as possible."""
        each, more = divmod(n, vocabulary.values)
        fewer = vocabulary.values - more
        alike = math.factorial(each + 1) ** more * math.factorial(each) ** fewer
        orders = math.factorial(n) // alike
        return orders / vocabulary.values**n


@dataclass(frozen=True, kw_only=True)
class Addition(Algorithmic):
    """Two numbers of n digits, lowest first; the answer is their sum in n + 1 digits."""

    marks: ClassVar[int] = MARKS
    least_values: ClassVar[int] = 10

    def string(self, rng: np.random.Generator, vocabulary: Vocabulary, n: int) -> Drawn:
        a, b = rng.integers(10, size=(2, n))
        carry, digits = 0, []
        for one in [*(a + b).tolist(), 0]:
            carry, digit = divmod(one + carry, 10)
            digits.append(digit)
        numbers = self._written(rng, vocabulary, [a, b, np.array(digits)])
        tokens = []
        for mark, number in zip((ADDITION, PLUS, EQUALS), numbers, strict=True):
            tokens += [vocabulary.key(mark), *number]
        return self._string(tokens, n)

    def _written(
        self, rng: np.random.Generator, vocabulary: Vocabulary, numbers: list[np.ndarray]
    ) -> list[np.ndarray]:
        """Returns the tokens of the digits of each number."""
        return [vocabulary.value(digits) for digits in numbers]

    def width(self, n: int) -> int:
        return 3 * n + 4

    def answer_width(self, n: int) -> int:
        return n + 1

    def chance(self, vocabulary: Vocabulary, n: int) -> float:
        """Returns the share of 99 ... 9, the sum of most pairs of numbers: 10^n of 10^2n."""
        return 10.0**-n


@dataclass(frozen=True, kw_only=True)
class HintedAddition(Addition):
    """Addition with a hint before every digit, also of the answer: a model writes the place of each
    digit of the sum before the digit.
    """

    marks: ClassVar[int] = HINTS + 2

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        super().check(option, vocabulary, length)
        why = f"the hints of data.vocabulary.keys={vocabulary.keys}"
        at_most(f"{option}.longest", self.longest, self.most(vocabulary), why)

    def most(self, vocabulary: Vocabulary) -> int:
        return max(0, vocabulary.keys - HINTS - 1)

    def _written(
        self, rng: np.random.Generator, vocabulary: Vocabulary, numbers: list[np.ndarray]
    ) -> list[np.ndarray]:
        most = max(map(len, numbers))
        start = int(rng.integers(HINTS, vocabulary.keys - most + 1))
        hints = vocabulary.key(start + np.arange(most))
        found = []
        for digits in numbers:
            pairs = np.stack([hints[: len(digits)], vocabulary.value(digits)], 1)
            found.append(pairs.ravel())
        return found

    def width(self, n: int) -> int:
        return 6 * n + 5

    def answer_width(self, n: int) -> int:
        return 2 * (n + 1)

    def chance(self, vocabulary: Vocabulary, n: int) -> float:
        """Returns the chance of addition over the number of places where hints may start."""
        starts = vocabulary.keys - (n + 1) + 1 - HINTS
        return super().chance(vocabulary, n) / starts


@dataclass(frozen=True, kw_only=True)
class PermutationProduct(Algorithmic):
    """n permutations of five things, one after the other; the answer is the place of each thing."""

    marks: ClassVar[int] = MARKS
    least_values: ClassVar[int] = 5

    def string(self, rng: np.random.Generator, vocabulary: Vocabulary, n: int) -> Drawn:
        drawn = rng.choice(list(GENERATORS), size=n)
        at = np.arange(5)
        for permutation in drawn.tolist():
            at = np.array(GENERATORS[permutation])[at]
        mark = vocabulary.key(S5)
        steps = vocabulary.key(drawn)
        end = vocabulary.value(at)
        return self._string([mark, *steps, mark, *end], n)

    def width(self, n: int) -> int:
        return n + 7

    def answer_width(self, n: int) -> int:
        return 5

    def chance(self, vocabulary: Vocabulary, n: int) -> float:
        """Returns the share of the 2^n strings with the most frequent product; walks all of S5."""
        ways: dict[tuple[int, ...], float] = {tuple(range(5)): 1.0}
        for _ in range(n):
            after: dict[tuple[int, ...], float] = defaultdict(float)
            for at, share in ways.items():
                for permutation in GENERATORS.values():
                    then = tuple(permutation[place] for place in at)
                    after[then] += share / 2
            ways = after
        return max(ways.values())
