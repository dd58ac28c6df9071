"""Multi-document question answering: one of K short documents holds the answer to a question at the
end of the context.

    ordered, shuffled    a context full of documents, the gold one moved through it; hard
                         distractors first, or in no order
    oracle, closed_book  the gold document alone, and no document: the best possible accuracy, and
                         the accuracy of a guess
    retrieved            the first K documents of a weak retriever, which may miss the gold one:
                         does a model gain from more documents?

Documents, questions and test contexts: extrap.data.facts, extrap.data.multidoc. Source: arXiv
2307.03172. The documents there are passages of an encyclopedia; here they are facts (subject,
relation, object) in a template, which a small model can learn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Interval

from extrap.data.facts import RELATIONS, Template
from extrap.data.multidoc import DocumentForm
from extrap.data.trials.base import Questions, Trials
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.base import Counter, Model, Setting
from extrap.tasks.scoring.recorder import Cell, Recorder
from extrap.tasks.scoring.retrieval import Exam, Grid
from extrap.utils.bounds import Count, Different, Fraction, Multiples, at_most


@dataclass(frozen=True, kw_only=True)
class MultiDoc(Grid):
    """Accuracy by place of the gold document and number of documents K. An answer is one token.

    Args:
        depths: of the gold document, index over K - 1
        facts: of a document
        top: numbers of documents that a retriever hands over, whose gold document has rank j = 1,
            2, ... with probability hit (1 - hit)^(j - 1)
        hit: the probability of that rank 1

    The other options and rows: tasks.scoring.retrieval.

    Rows have K as axis `documents`. Metrics:

    handed    of the protocol retrieved: share of the trials whose gold document is handed over; no
              reader can do better by reading
    gate      the gate of `ordered`, for every row
    """

    name: ClassVar[str] = "multidoc"
    words: ClassVar[bool] = True
    asks: ClassVar = "answers"
    gate: ClassVar[str | None] = "ordered"

    multiples: Multiples = (1, 2, 4)
    facts: Annotated[int, Interval(ge=1, le=len(RELATIONS))] = 1
    top: Annotated[Sequence[Count], Different()] = (1, 2, 3, 5, 10, 20, 40)
    hit: Fraction = 0.1

    def forms(self, vocabulary: Vocabulary) -> dict[str, DocumentForm]:
        template = Template.of(vocabulary, self.facts)
        ordered = DocumentForm(template, True)
        shuffled = DocumentForm(template)
        return {"ordered": ordered, "shuffled": shuffled}

    def check(self, setting: Setting) -> None:
        super().check(setting)
        keys = setting.vocabulary.keys
        longest = max(self.top, default=0)
        fewer = f"fewer than data.vocabulary.keys={keys}"
        at_most(f"task.{self.name}.top", longest, keys - 1, fewer)

    def plan(self, model: Model, setting: Setting) -> list[Cell]:
        """Returns the cells of the best possible accuracy and of a guess, on the questions of the
        training length; of the grid; and of the retriever.
        """
        of = (setting.vocabulary, setting.stream)
        items = range(self.trials)
        form = self.forms(setting.vocabulary)["shuffled"]
        gate_length = self.gate_length(setting.length)
        known = Trials(*of, gate_length, items)

        def cell(protocol: str, K: int, questions: Questions, **more: np.ndarray) -> Cell:
            length = questions.tokens.shape[1]
            where = {"protocol": protocol, "length": length, "axis": "documents", "at": K}

            def measure(cells: Recorder, counter: Counter) -> None:
                exam = Exam(*of, length, items, model, self.batch_tokens, counter)
                scores = exam.score(questions) | more
                cells.answers(scores, {})

            return Cell(where, questions.tokens.size, measure)

        gold = form.without_search(known, 1)
        nothing = form.without_search(known, 0)
        cells = [
            cell("oracle", 1, gold),
            cell("closed_book", 0, nothing),
            *super().plan(model, setting),
        ]
        for top in sorted(self.top):
            questions, handed = form.retrieved(known, top, self.hit)
            retrieved = cell("retrieved", top, questions, handed=handed)
            cells.append(retrieved)
        return cells

    def where(self, form: DocumentForm, vocabulary: Vocabulary, length: int) -> dict:
        text = length - vocabulary.turns.extra
        return {"axis": "documents", "at": form.records(text)}
