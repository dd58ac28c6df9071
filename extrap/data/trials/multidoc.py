"""Multi-document question answering as a test: one document of K holds the answer and is moved,
everything else stays.

    BOS  [filler]  document ... GOLD ... document  question      K documents
    BOS  GOLD  question                                         oracle: what is left to get wrong is
         not finding it
    BOS  question                                               closed book: what can be guessed

Distractors are about other subjects. Those with a fact of the relation that is asked are the hard
ones: `ordered` has them in front, as a retriever that goes by the words of the question would, and
`shuffled` has the same documents in no order. Source: arXiv 2307.03172, section 3.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from extrap.data.facts import Facts, Template
from extrap.data.text import windows
from extrap.data.trials.base import Questions
from extrap.data.trials.dialogue import laid
from extrap.data.vocabulary import Vocabulary

CODE, RANKED = 20, 21  # keep the random draws of test sets apart


@dataclass(frozen=True)
class Question:
    """Document 0 of `facts` is the gold one, `fact` which of its facts is asked for; the filler is
    for a whole context.
    """

    facts: Facts
    fact: int
    filler: np.ndarray

    @property
    def relation(self) -> int:
        return int(self.facts.relations[0, self.fact])

    def order(self) -> np.ndarray:
        """The distractors, hard ones first, else as they were drawn."""
        hard = (self.facts.relations[1:] == self.relation).any(-1)
        return 1 + np.argsort(~hard, kind="stable")


@dataclass(frozen=True)
class Documents:
    """Test contexts of documents with `facts` facts each, a pure function of (seed,
    length, item).
    """

    vocabulary: Vocabulary
    stream: np.ndarray
    facts: int
    seed: int

    @property
    def template(self) -> Template:
        return Template.of(self.vocabulary, self.facts)

    def most(self, length: int) -> int:
        """The most documents that `length` tokens hold, next to what else is read."""
        return self.template.most(length - self.vocabulary.turns.extra)

    def moved(self, length: int, depth: float, ordered: bool, items: Iterable[int]) -> Questions:
        """As many documents as fit into `length` tokens, gold at index round(depth (K - 1))."""
        length -= self.vocabulary.turns.extra
        documents = self.template.most(length)
        at = round(depth * (documents - 1))
        made = []
        for question in self._questions(length, documents, items):
            others = question.order() if ordered else np.arange(1, documents)
            made.append((question, np.insert(others, at, 0)))
        return self._written(made, length, at)

    def oracle(self, length: int, items: Iterable[int]) -> Questions:
        """The gold document of the same questions, alone."""
        length -= self.vocabulary.turns.extra
        template, documents = self.template, self.template.most(length)
        alone = [
            (question, np.array([0])) for question in self._questions(length, documents, items)
        ]
        return self._written(alone, 1 + template.width + template.question_width, 0)

    def closed_book(self, length: int, items: Iterable[int]) -> Questions:
        """The same questions, with nothing to read."""
        length -= self.vocabulary.turns.extra
        template, documents = self.template, self.template.most(length)
        none = [
            (question, np.array([], int)) for question in self._questions(length, documents, items)
        ]
        return self._written(none, 1 + template.question_width, 0)

    def retrieved(self, top: int, hit: float, items: Iterable[int]) -> tuple[Questions, np.ndarray]:
        """The first `top` documents that a weak retriever gives, and whether the gold one is among
        them, (n,).

        The gold document has rank j = 1, 2, ... with probability hit (1 - hit)^(j - 1), so that
        recall at K is 1 - (1 - hit)^K. More documents of a trial are the same ones, followed by
        further ones.
        """
        made, found = [], []
        for i in items:
            rng = np.random.default_rng((self.seed, RANKED, i))
            rank = int(rng.geometric(hit))
            question = self._draw(rng, self.vocabulary.keys, 0)
            made.append((question, np.insert(np.arange(1, top + 1), min(rank - 1, top), 0)[:top]))
            found.append(rank <= top)
        return self._written(
            made, 1 + top * self.template.width + self.template.question_width, -1
        ), np.array(found)

    def _questions(self, length: int, documents: int, items: Iterable[int]) -> list[Question]:
        return [
            self._draw(np.random.default_rng((self.seed, CODE, length, i)), documents, length)
            for i in items
        ]

    def _draw(self, rng: np.random.Generator, documents: int, filler: int) -> Question:
        facts = Facts.draw(rng, self.vocabulary, documents, self.facts)
        return Question(
            facts, int(rng.integers(self.facts)), windows(rng, self.stream, 1, filler)[0]
        )

    def _written(self, made: list[tuple[Question, np.ndarray]], length: int, at: int) -> Questions:
        """made: questions, and the documents to read in order. Filler in front makes up
        the length, that of turns of a dialogue not counted.
        """
        template, rows, values, behind = self.template, [], [], []
        for question, order in made:
            asked = template.questions(question.facts.subjects[0], np.array(question.relation))
            documents = template.documents(question.facts[order]).ravel()
            filler = question.filler[: length - 1 - len(documents) - len(asked)]
            rows.append(np.concatenate([[self.vocabulary.bos], filler, documents, asked]))
            values.append(question.facts.objects[order].ravel())
            behind.append(template.distance(len(order) - at, question.fact))
        answers = np.array([question.facts.objects[0, question.fact] for question, _ in made])
        plain = Questions(
            np.stack(rows),
            answers[:, None],
            np.stack(values)[:, :, None],
            at,
            float(np.mean(behind)),
            template.question_width,
        )
        return laid(plain, self.vocabulary.turns)
