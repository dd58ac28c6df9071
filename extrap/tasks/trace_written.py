"""Chains of assignments, written out: each key between the one that is asked for and its value.

    written-h   h assignments; the answer is h keys and a value

Right is an answer whose every token is the most likely one, told what comes before it, which is
what greedy decoding says as well. Sequences: extrap.data.trace; the same chains with the
value alone as their answer: extrap.tasks.trace. Source: variable tracking of RULER, arXiv
2404.06654.
"""

from dataclasses import dataclass
from typing import ClassVar

from extrap.data.trace import Hops, TraceForm, TraceWrittenForm
from extrap.tasks.trace import VariableTracking
from extrap.utils.bounds import OneOrMore


@dataclass(frozen=True, kw_only=True)
class WrittenTracking(VariableTracking):
    """Accuracy by length, depth of the value and number of hops, a protocol each.

    The options and the rows: extrap.tasks.trace, extrap.tasks.scoring.retrieval. guess = 1 / c
    with c chains of so many hops, of whoever writes one of them down (without a hop 1 / c + (1 -
    1/c) / values, as they may share a value); chance = 1 / (keys^h values). Items: accuracy of each
    trial.
    """

    name: ClassVar[str] = "trace-written"
    words: ClassVar[bool] = False
    inner: ClassVar[bool] = True

    hops: OneOrMore[Hops] = (1, 2, 3)

    def forms(self, vocabulary) -> dict[str, TraceForm]:
        return {f"written-{hops}": TraceWrittenForm(hops) for hops in self.hops}
