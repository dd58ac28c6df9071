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
        rng, length, rows = context.rng, context.length, []
        documents = counts(rng, self.size, FEWEST, template.most(length), difficulty)
        room = length - 1 - template.each - documents * template.width
        filled = rng.random(self.size) < difficulty * self.prefix
        filler = np.where(filled, rng.integers(room + 1), 0)
        text = context.texts(self.size, length)
        for i, n in enumerate(documents):
            facts = Facts.draw(context, n, self.facts)
            left = length - filler[i] - n * template.width
            ask = -(-left // (template.each + 1))  # the last question may be cut off
            which, fact = rng.integers(n, size=ask), rng.integers(self.facts, size=ask)
            asked = template.questions(facts.subjects[which], facts.relations[which, fact])
            asked = np.concatenate([asked, facts.objects[which, fact][:, None]], axis=1)
            told = template.documents(facts).ravel()
            front = np.concatenate([[context.vocabulary.bos], text[i, : filler[i]], told])
            rows.append(answered(front, asked, 1))
        return stacked(rows, length)


@dataclass(frozen=True)
class Question:
    """Document 0 of `facts` is the gold one.

    Args:
        fact: the index of the asked fact in it
        filler: for a whole context
    """

    facts: Facts
    fact: int
    filler: np.ndarray

    @property
    def relation(self) -> int:
        return int(self.facts.relations[0, self.fact])


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
        length, made = trials.length - trials.vocabulary.turns.extra, []
        documents = self.records(length)
        at = round(depth * (documents - 1))
        for question in self._questions(trials):
            others = np.arange(1, documents)
            if self.ordered:  # hard ones first, else in the order of their draws
                hard = (question.facts.relations[1:] == question.relation).any(-1)
                others = others[np.argsort(~hard, kind="stable")]
            made.append((question, np.insert(others, at, 0)))
        return self._written(trials, made, length, at)

    def without_search(self, trials: Trials, documents: int) -> Questions:
        """Returns the same questions with the gold document alone (1), or without documents (0)."""
        made = [(question, np.arange(documents)) for question in self._questions(trials)]
        return self._written(trials, made, 0, 0)

    def retrieved(self, trials: Trials, top: int, hit: float) -> tuple[Questions, np.ndarray]:
        """Returns contexts with the first `top` documents of a weak retriever, and whether the gold
        one is among them, (n,).

        The gold document has rank j = 1, 2, ... with probability hit (1 - hit)^(j - 1), so that
        recall at K is 1 - (1 - hit)^K. More documents of a trial are the same ones, followed by
        further ones.
        """
        made, handed = [], []
        for context in replace(trials, length=0).contexts(RANKED):
            rank = int(context.rng.geometric(hit))
            question = self._question(context, trials.vocabulary.keys)
            made.append((question, np.insert(np.arange(1, top + 1), min(rank - 1, top), 0)[:top]))
            handed.append(rank <= top)
        return self._written(trials, made, 0, -1), np.array(handed)

    def _questions(self, trials: Trials) -> list[Question]:
        shorter = trials.shorter(trials.vocabulary.turns.extra)
        contexts = shorter.contexts(CODE, shorter.length)
        return [self._question(context, self.records(shorter.length)) for context in contexts]

    def _question(self, context: Context, documents: int) -> Question:
        """Draws a question with as many tokens of filler as the context is long."""
        facts = Facts.draw(context, documents, each := self.template.facts)
        return Question(facts, int(context.rng.integers(each)), context.text(context.length))

    def _written(
        self, trials: Trials, made: list[tuple[Question, np.ndarray]], length: int, at: int
    ) -> Questions:
        """Returns contexts as tokens. made: questions, and the documents of each in order; filler
        in front makes up the length, turns of a dialogue not counted.
        """
        bos, template, each = [trials.vocabulary.bos], self.template, []
        for question, order in made:
            facts, fact = question.facts, question.fact
            asked = template.questions(facts.subjects[0], np.array(question.relation))
            documents = template.documents(facts[order]).ravel()
            filler = question.filler[: max(0, length - 1 - len(documents) - len(asked))]
            tokens = np.concatenate([bos, filler, documents, asked])
            answer, values = facts.objects[0, fact : fact + 1], facts.objects[order].reshape(-1, 1)
            # from the subject of the asked fact to the subject of the question
            distance = (len(order) - at) * template.width - fact * template.each + 1
            each.append(Questions(tokens, answer, values, at, distance, template.each))
        return Questions.stacked(each).laid(trials.vocabulary.turns)

    def guess(self, vocabulary: Vocabulary, length: int) -> float:
        """Returns the expected accuracy of naming the object of a random fact."""
        return guess(self.records(length) * self.template.facts, vocabulary.values)

    def chance(self, vocabulary: Vocabulary) -> float:
        return 1 / vocabulary.values
