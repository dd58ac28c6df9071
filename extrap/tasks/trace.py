"""Chains of assignments: a key whose value stands several records away from it.

    hops-h   h assignments between the key that is asked for and its value, each in a record of its
             own

The record with the value is moved through the context; the rest of its chain, the other chains and
their order stay. Sequences: extrap.data.trace. Source: variable tracking of RULER, arXiv
2404.06654.
"""

from dataclasses import dataclass
from typing import ClassVar

from extrap.data.trace import Hops, TraceForm
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.base import Setting
from extrap.tasks.scoring.retrieval import Grid
from extrap.utils.bounds import Multiples, OneOrMore


@dataclass(frozen=True, kw_only=True)
class VariableTracking(Grid):
    """The task that follows a chain of assignments to its value. A protocol is a number of hops;
    accuracy is by length and depth of the value.

    Args:
        hops: numbers of hops, 0 is plain retrieval

    The other options and the rows: extrap.tasks.scoring.retrieval. Each number of hops has a gate.

    guess = 1 / c + (1 - 1/c) / values for a model that names the value of one of the c chains of
    so many hops at random
    chance = 1 / values

    Items: accuracy of each trial.
    """

    name: ClassVar[str] = "trace"
    words: ClassVar[bool] = True
    asks: ClassVar = "answers"

    multiples: Multiples = (1, 2, 4)
    hops: OneOrMore[Hops] = (1, 2, 3, 4)

    def check(self, setting: Setting) -> None:
        super().check(setting)
        shortest = min(self.lengths(setting.length))
        vocabulary = setting.vocabulary
        forms = list(self.forms(vocabulary).values())
        longest_chain = self.hops.index(max(self.hops))
        most = forms[longest_chain]
        text = shortest - vocabulary.turns.extra
        held = most.records(text)
        if held < most.fewest_tested:
            need = f"two chains of {most.hops} hops need {most.fewest_tested}"
            problem = f"{shortest} tokens hold {held} records, but {need}"
            raise self.error("hops", problem, "give fewer hops or longer lengths")

    def forms(self, vocabulary: Vocabulary) -> dict[str, TraceForm]:
        return {f"hops-{hops}": TraceForm(hops, layout=vocabulary.layout) for hops in self.hops}
