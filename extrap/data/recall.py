"""Lists of items, recalled as a whole or from their end: as training data and as a test.

    BOS  [text]  a f c k b    R c  R a  R b ...    S k  S b  S b ...

    recall   R    any item of the list, all alike: a uniform demand
    span     S    any of the last `span` items: a demand for the end

Items are key ids, all different; R and S are key ids of their own. Every answer is a random one of
the wanted items. The best a model can do is to give all of them the same probability: the most
likely tokens are then its recall, read off in one forward pass. The trained demand shapes the
recall: a demand for the end makes recency, a uniform one primacy. Source: free recall and running
span of arXiv 2510.10276, whose models speak the list item by item. One sequence of 18 tokens, 9
items, span 3, k0 the mark R, k1 the mark S:

    <bos> o f k114 k119 k70 k254 k184 k31 k135 k125 k253 k0 k184 k1 k135 k0 k119
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from extrap.data.context import Context
from extrap.data.scene import Scene, SceneForm, ScenePart
from extrap.data.vocabulary import Vocabulary
from extrap.utils.bounds import Count, OneOrMore, at_most

Demand = Literal["recall", "span"]
DEMANDS: tuple[Demand, ...] = get_args(Demand)
MARKS = len(DEMANDS)
"""Key ids 0 and 1 are the marks of the demands, in their order."""
Demands = OneOrMore[Demand]


@dataclass(frozen=True)
class RecallForm(SceneForm):
    """Named lists of items, recalled as a whole or from their end.

    Args:
        demands: of the questions of training, each as often; a test uses the first of them
        span: items in the end of a list
    """

    demands: tuple[Demand, ...] = DEMANDS
    span: int = 4

    code: ClassVar[int] = 64
    width: ClassVar[int] = 1

    def keys(self, records: int) -> int:
        return MARKS + records

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        super().check(option, vocabulary, length)
        most = self.records(length)
        at_most(f"{option}.span", self.span, most, f"the items that {length} tokens hold")

    def wanted(self, records: int, demand: Demand) -> np.ndarray:
        """Returns the indices of the items that a demand wants, in order."""
        first = 0 if demand == "recall" else max(0, records - self.span)
        return np.arange(first, records)

    def scene(self, context: Context, records: int) -> Scene:
        items = self._draw(context, records)
        wanted = [self.wanted(records, demand) for demand in self.demands]
        size = math.lcm(*map(len, wanted))  # questions of each demand
        asked = np.concatenate([np.resize(each, size) for each in wanted])
        answers = items[asked]
        marks = np.repeat([DEMANDS.index(demand) for demand in self.demands], size)
        return Scene(items, context.vocabulary.key(marks)[:, None], answers, items)

    def tested(self, context: Context, records: int, depth: float) -> Scene:
        """Draws a list, the same at every depth, and its item at a depth among the wanted ones."""
        items = self._draw(context, records)
        demand = self.demands[0]
        wanted = self.wanted(records, demand)
        index = int(wanted[round(depth * (len(wanted) - 1))])
        mark = context.vocabulary.key(np.array([[DEMANDS.index(demand)]]))
        return Scene(items, mark, items[index : index + 1], items, index)

    def guess(self, vocabulary: Vocabulary, length: int) -> float:
        """Returns the recall of naming as many items of the list as are wanted."""
        records = self.records(length)
        return len(self.wanted(records, self.demands[0])) / records

    @staticmethod
    def _draw(context: Context, records: int) -> np.ndarray:
        """Draws items (records, 1)."""
        drawn = context.rng.permutation(context.vocabulary.keys - MARKS)[:records]
        return context.vocabulary.key(MARKS + drawn)[:, None]


@dataclass(frozen=True, kw_only=True)
class Recall(ScenePart):
    """Training sequences in which questions of every demand follow one list.

    Their training accuracy cannot reach 1: an answer is one of several right ones.

    Args:
        demands: recall, span, or both, as often as each other
        span: items that the end of a list counts
    """

    demands: Demands = DEMANDS
    span: Count = 4

    @property
    def form(self) -> RecallForm:
        return RecallForm(tuple(self.demands), self.span)
