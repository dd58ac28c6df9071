"""The n-th of several records with one key: primacy and recency among needles that are alike.

    start   the record is counted from the start of the context: the first, the second, ...
    end     the same record counted from the end: the last, the one before, ...

Contexts and their records are the same in both, and at every depth; only the mark of the question
differs. Sequences: extrap.data.nth. Source: MRCR, arXiv 2409.12640, in miniature.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

from extrap.data.nth import Copies, NthForm, Places
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.base import Setting
from extrap.tasks.scoring.retrieval import Grid
from extrap.utils.bounds import Depths, Multiples, OneOrMore


@dataclass(frozen=True, kw_only=True)
class NthRecord(Grid):
    """Accuracy by length and rank, a protocol for each way to count.

    Args:
        copies: records of the key, at most as many as in training
        places: of these records in the context, drawn for every trial, or even, where a reader can
            do without the key: its answer is a function of mark and slot
        depths: of the one asked for, its rank over copies - 1
        count: from the start, from the end

    The other options and the rows: extrap.tasks.scoring.retrieval. guess = 1 / copies, of whoever
    finds the key and not its order; chance = 1 / values. Items: accuracy of each trial; index and
    distance of each cell are means over trials.
    """

    name: ClassVar[str] = "nth"
    words: ClassVar[bool] = True
    asks: ClassVar = "answers"

    multiples: Multiples = (1, 2, 4)
    depths: Depths = (0, 0.25, 0.5, 0.75, 1)
    copies: Copies = 5
    places: Places = "drawn"
    count: OneOrMore[Literal["start", "end"]] = ("start", "end")

    def check(self, setting: Setting) -> None:
        super().check(setting)
        ranks = [round(depth * (self.copies - 1)) for depth in self.depths]
        if self.copies > 2 and len({*ranks}) < len(ranks):  # two have no middle
            problem = f"several of these depths are one of task.{self.name}.copies={self.copies}"
            raise self.error("depths", problem, "give as many depths as records, or fewer")

    def forms(self, vocabulary: Vocabulary) -> dict[str, NthForm]:
        form = partial(NthForm, self.copies, places=self.places, layout=vocabulary.layout)
        return {count: form(count=count) for count in self.count}
