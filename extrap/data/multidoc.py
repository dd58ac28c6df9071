"""Multi-document question answering: as training data and as a test (extrap.data.facts defines
documents and questions).

    BOS  [filler and n documents]  ? b k17 v40 ? o k5 v9 ...    training: the answers are scored
    BOS  [filler]  document ... GOLD ... document  question     test: K documents, gold is moved
    BOS  GOLD  question                                         oracle: the errors without a search
    BOS  question                                               closed book: what can be guessed

In training several questions follow every set of documents; few documents come first and many
later, as in extrap.data.keyvalue. In a test the distractors are about other subjects. A distractor
with a fact of the asked relation is a hard one: `ordered` puts the hard ones first, as a retriever
that matches the words of the question would, and `shuffled` has the same documents in no order.
Source: arXiv 2307.03172, section 3.
"""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from annotated_types import Interval

from extrap.data.context import Context
from extrap.data.curriculum import Graded, counts
from extrap.data.facts import RELATIONS, Facts, Template
from extrap.data.keyvalue import check_keys
from extrap.data.part import Drawn, answered, stacked
from extrap.data.trials.base import FEWEST, Questions, Trials, check_records, guess
from extrap.data.vocabulary import Vocabulary
from extrap.utils.bounds import Share

CODE, RANKED = 20, 21  # keep the random draws of test sets apart
GOLD = 0
"""The index of the gold document in the facts of a question."""


@dataclass(frozen=True, kw_only=True)
class MultiDocument(Graded):
    """Training sequences of multi-document question answering.

    Args:
        facts: of a document, each with a relation of its own
        prefix: share of the hard sequences with a random amount of training text before the
            documents, which puts documents on every slot

    Easy: a log-uniform number of documents from 2 to as many as fit; hard: a uniform number.
    """

    facts: Annotated[int, Interval(ge=1, le=len(RELATIONS))] = 1
    prefix: Share = 0.5

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        DocumentForm(Template.of(vocabulary, self.facts)).check(option, vocabulary, length)

    def draw(self, context: Context, difficulty: float) -> Drawn:
        template = Template.of(context.vocabulary, self.facts)
        rng, length = context.rng, context.length
        documents = counts(rng, self.size, FEWEST, template.most(length), difficulty)
        room = length - 1 - template.each - documents * template.width
        filled = rng.random(self.size) < difficulty * self.prefix
        filler = np.where(filled, rng.integers(room + 1), 0)
        texts = context.texts(self.size, length)
        rows = []
        for n, amount, text in zip(documents, filler, texts, strict=True):
            rows.append(self._row(context, template, n, text[:amount]))
        return stacked(rows, length)

    def _row(
        self, context: Context, template: Template, documents: int, filler: np.ndarray
    ) -> Drawn:
        """Returns one sequence: filler, documents, then questions up to the end."""
        facts = Facts.draw(context, documents, self.facts)
        room = context.length - len(filler) - documents * template.width
        questions = -(-room // (template.each + 1))  # the last question may be cut off
        document = context.rng.integers(documents, size=questions)
        fact = context.rng.integers(self.facts, size=questions)
        asked = template.questions(facts.subjects[document], facts.relations[document, fact])
        answers = facts.objects[document, fact]
        told = template.documents(facts).ravel()
        front = context.sequence(filler, told)
        return answered(front, np.column_stack([asked, answers]), 1)


@dataclass(frozen=True)
class Question:
    """A question about one of the facts of a document, the gold one.

    Args:
        facts: of all documents, the gold one first
        fact: the index of the asked fact in the gold document
        filler: text for a whole context
    """

    facts: Facts
    fact: int
    filler: np.ndarray

    @property
    def relation(self) -> int:
        return int(self.facts.relations[GOLD, self.fact])


@dataclass(frozen=True)
class DocumentForm:
    """A test context full of documents.

    Args:
        ordered: True puts hard distractors first

    Lengths count the text; trials count the turns of a dialogue with it.
    """

    template: Template
    ordered: bool = False

    def records(self, length: int) -> int:
        """Returns the number of documents next to a question."""
        return self.template.most(length)

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        documents = self.records(length)
        check_records(f"{option}.facts", length, documents)
        check_keys(vocabulary, documents, length)

    def questions(self, trials: Trials, depth: float) -> Questions:
        """Returns contexts with as many documents as fit, gold at index round(depth (K - 1))."""
        length = trials.length - trials.vocabulary.turns.extra
        at = round(depth * (self.records(length) - 1))
        asked = []
        for question in self._questions(trials):
            order = np.insert(self._distractors(question), at, GOLD)
            asked.append(self._asked(trials, question, order, at, length))
        return _laid(trials, asked)

    def without_search(self, trials: Trials, documents: int) -> Questions:
        """Returns the same questions with the gold document alone (1), or without documents (0)."""
        order = np.arange(documents)
        questions = self._questions(trials)
        return _laid(trials, [self._asked(trials, question, order, 0) for question in questions])

    def retrieved(self, trials: Trials, top: int, hit: float) -> tuple[Questions, np.ndarray]:
        """Returns contexts with the first `top` documents of a weak retriever, and whether the gold
        one is among them, (n,).

        The gold document has rank j = 1, 2, ... with probability hit (1 - hit)^(j - 1), so that
        recall at K is 1 - (1 - hit)^K. More documents of a trial are the same ones, followed by
        further ones.
        """
        asked, handed = [], []
        for context in replace(trials, length=0).contexts(RANKED):
            rank = int(context.rng.geometric(hit))
            question = self._question(context, trials.vocabulary.keys)
            others = np.arange(1, top + 1)
            ranked = np.insert(others, min(rank - 1, top), GOLD)
            asked.append(self._asked(trials, question, ranked[:top], -1))
            handed.append(rank <= top)
        return _laid(trials, asked), np.array(handed)

    def _questions(self, trials: Trials) -> list[Question]:
        shorter = trials.shorter(trials.vocabulary.turns.extra)
        contexts = shorter.contexts(CODE, shorter.length)
        return [self._question(context, self.records(shorter.length)) for context in contexts]

    def _question(self, context: Context, documents: int) -> Question:
        """Draws a question with as many tokens of filler as the context is long."""
        facts = Facts.draw(context, documents, self.template.facts)
        fact = int(context.rng.integers(self.template.facts))
        return Question(facts, fact, context.text(context.length))

    def _distractors(self, question: Question) -> np.ndarray:
        """Returns the other documents in the order of their draws, or hard ones first."""
        relations = question.facts.relations[1:]
        others = np.arange(1, 1 + len(relations))
        if not self.ordered:
            return others
        hard = (relations == question.relation).any(-1)
        return others[np.argsort(~hard, kind="stable")]

    def _asked(
        self, trials: Trials, question: Question, order: np.ndarray, at: int, length: int = 0
    ) -> Questions:
        """Returns a question behind its documents, as tokens.

        Args:
            order: of the documents, the gold one at index `at`
            length: which filler in front makes up, turns of a dialogue not counted
        """
        template, facts, fact = self.template, question.facts, question.fact
        asked = template.questions(facts.subjects[GOLD], np.array(question.relation))
        documents = template.documents(facts[order]).ravel()
        room = max(0, length - 1 - len(documents) - len(asked))
        filler = question.filler[:room]
        # from the subject of the asked fact to the subject of the question
        distance = (len(order) - at) * template.width - fact * template.each + 1
        return Questions(
            tokens=np.concatenate([[trials.vocabulary.bos], filler, documents, asked]),
            answers=facts.objects[GOLD, fact : fact + 1],
            values=facts.objects[order].reshape(-1, 1),
            index=at,
            distance=distance,
            tail=template.each,
        )

    def guess(self, vocabulary: Vocabulary, length: int) -> float:
        """Returns the expected accuracy of naming the object of a random fact."""
        return guess(self.records(length) * self.template.facts, vocabulary.values)

    def chance(self, vocabulary: Vocabulary) -> float:
        return 1 / vocabulary.values


def _laid(trials: Trials, asked: list[Questions]) -> Questions:
    """Returns questions as one, in the turns of a dialogue."""
    return Questions.stacked(asked).laid(trials.vocabulary.turns)
