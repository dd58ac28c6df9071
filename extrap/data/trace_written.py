"""Chains of assignments whose answer is the whole chain, written out key by key: as training data
and as a test.

    BOS  [text]  b a ;  a 7 ;  d c ;  c 2 ;   b a 7  d c 2  a 7 ; ...    b is a, a is 7

Records are those of extrap.data.trace. There the answer is the value at the end, so that a model
has to follow all hops at once; here each is a look-up of its own, since what was said is read for
the next. In training the answers of shorter chains are filled with semicolons. Variable tracking of
RULER asks for lists of this kind (arXiv 2404.06654). One sequence of 32 tokens, 4 records, up to
two hops:

    <bos> k62 v0 ; k222 k162 ; k91 v1 ; k162 v44 ; k91 v1 ; ; k162 v44 ; ; k222 k162 v44 ; k162 v44
    ; ; k222 k162 v44
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from extrap.data.context import Context
from extrap.data.scene import Scene
from extrap.data.trace import Hops, Trace, TraceForm
from extrap.data.vocabulary import Vocabulary


@dataclass(frozen=True)
class TraceWrittenForm(TraceForm):
    """hops: assignments between the asked key and its value; an answer has so many keys and a
    value.
    """

    code: ClassVar[int] = 65

    @property
    def saying(self) -> int:
        return self.hops + 1

    def scene(self, context: Context, records: int) -> Scene:
        return self._answered(super().scene(context, records), context.vocabulary)

    def tested(self, context: Context, records: int, depth: float) -> Scene:
        vocabulary = context.vocabulary
        made = self._answered(super().tested(context, records, depth), vocabulary)
        given = set(made.records[:, 1].tolist())
        first = np.array([[key] for key in made.records[:, 0].tolist() if key not in given])
        paths = self._paths(made.records, first, vocabulary)
        whole = np.isin(paths[:, -1], vocabulary.value_ids)  # not what is left over, of no hop
        return replace(made, values=paths[whole])

    def _answered(self, scene: Scene, vocabulary: Vocabulary) -> Scene:
        return replace(scene, answers=self._paths(scene.records, scene.queries, vocabulary))

    def _paths(
        self, records: np.ndarray, queries: np.ndarray, vocabulary: Vocabulary
    ) -> np.ndarray:
        """Returns paths (q, hops + 1): from each key (q, 1) to the token behind it, and on;
        semicolons after the value.
        """
        stop = int(records[0, -1])
        following = np.full(vocabulary.size, stop)
        following[records[:, 0]] = records[:, 1]
        found = [queries[:, 0]]
        for _ in range(self.saying):
            found.append(following[found[-1]])
        return np.stack(found[1:], 1)

    def guess(self, vocabulary: Vocabulary, length: int) -> float:
        """Returns the accuracy of writing down a random chain; without a hop that is a value, which
        several chains may have.
        """
        if self.hops == 0:
            return super().guess(vocabulary, length)
        return 1 / (self.records(length) // (self.hops + 1))

    def chance(self, vocabulary: Vocabulary) -> float:
        return 1 / (vocabulary.keys**self.hops * vocabulary.values)


@dataclass(frozen=True, kw_only=True)
class TraceWritten(Trace):
    """Training sequences with chains of 0 to `hops` hops, every key of which is asked, every answer
    a chain written out.
    """

    hops: Hops = 3

    @property
    def form(self) -> TraceForm:
        return TraceWrittenForm(self.hops)
