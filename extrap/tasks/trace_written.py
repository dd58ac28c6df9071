"""Chains of assignments, written out: each key between the one that is asked for and its value.

    written-h   h assignments; the answer is h keys and a value

An answer is right if greedy decoding writes all of its tokens. Sequences: extrap.data.trace; the
same chains with the value alone as their answer: extrap.tasks.trace. Source: variable tracking of
RULER, arXiv 2404.06654.
"""

from dataclasses import dataclass
from typing import ClassVar

from extrap.data.trace import Hops, TraceForm, TraceWrittenForm
from extrap.tasks.trace import VariableTracking
from extrap.utils.bounds import OneOrMore


@dataclass(frozen=True, kw_only=True)
class WrittenTracking(VariableTracking):
    """The task that asks for a chain of assignments, written out in full. A protocol is a number of
    hops; accuracy is by length and depth of the value.

    The options and the rows: extrap.tasks.trace, extrap.tasks.scoring.retrieval.

    guess = 1 / c for a model that writes down one of the c chains of so many hops; without a hop
    1 / c + (1 - 1/c) / values, as they may share a value
    chance = 1 / (keys^h values)

    Items: accuracy of each trial.
    """

    name: ClassVar[str] = "trace-written"
    words: ClassVar[bool] = False
    inner: ClassVar[bool] = True

    hops: OneOrMore[Hops] = (1, 2, 3)

    def forms(self, vocabulary) -> dict[str, TraceForm]:
        return {f"written-{hops}": TraceWrittenForm(hops) for hops in self.hops}
