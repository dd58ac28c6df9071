"""Multi-document question answering as training data: documents, then questions about them;
extrap.data.facts says what one is.

    BOS  [filler and n documents]  ? b k17 v40 ? o k5 v9 ...     only the answers are scored

Several questions follow every set of documents, few documents come first and many later, as in
extrap.data.keyvalue.
"""

from dataclasses import dataclass

import numpy as np

from extrap.data.curriculum import Graded, counts
from extrap.data.facts import RELATIONS, Facts, Template
from extrap.data.text import windows
from extrap.data.vocabulary import Vocabulary
from extrap.utils.errors import UserError

FEWEST = 2  # with one document there is nothing to choose from


@dataclass(frozen=True, kw_only=True)
class MultiDocument(Graded):
    """Training sequences of multi-document question answering.

    size: sequences per step; weight: of their mean loss in the sum; facts: of a document, each with
    a relation of its own. Easy: a log-uniform
    number of documents from 2 to as many as fit; hard: a uniform number, and prefix: share of the
    sequences with a random amount of training text before the documents, which puts documents on
    every slot.

    Raises ValueError for shares outside 0 ... 1 and for facts that no relation is left for.
    """

    size: int = 64
    weight: float = 2.0
    facts: int = 1
    prefix: float = 0.5

    def __post_init__(self) -> None:
        if not 1 <= self.facts <= len(RELATIONS):
            raise ValueError(f"facts={self.facts}: from 1 to {len(RELATIONS)}, a relation each")
        if not 0 <= self.prefix <= 1:
            raise ValueError(f"prefix={self.prefix}: a share from 0 to 1")

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        most = Template.of(vocabulary, self.facts).most(length)
        if most < FEWEST:
            raise UserError(
                f"{option}.facts={self.facts}: a sequence of {length} tokens holds {max(0, most)} "
                "documents; raise data.length"
            )
        if most > vocabulary.keys:
            raise UserError(
                f"{option}: {most} documents in {length} tokens need a subject each; raise "
                f"data.vocabulary.keys={vocabulary.keys} to {most} or more, or use shorter "
                "lengths"
            )

    def draw(
        self,
        rng: np.random.Generator,
        stream: np.ndarray,
        vocabulary: Vocabulary,
        length: int,
        difficulty: float,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sequences (size, length + 1) int64 and which of their tokens 1 ... length are answers;
        difficulty: 0 easy, 1 hard.
        """
        template = Template.of(vocabulary, self.facts)
        documents = counts(rng, self.size, FEWEST, template.most(length), difficulty)
        room = length - 1 - template.question_width - documents * template.width
        filler = np.where(
            rng.random(self.size) < difficulty * self.prefix, rng.integers(room + 1), 0
        )
        text = windows(rng, stream, self.size, length)
        rows = [
            self._row(rng, vocabulary, template, length, *one)
            for one in zip(documents, filler, text, strict=True)
        ]
        sequences, scored = (np.stack(arrays) for arrays in zip(*rows, strict=True))
        return sequences, scored[:, 1:]

    @staticmethod
    def _row(
        rng, vocabulary, template, length, documents, filler, text
    ) -> tuple[np.ndarray, np.ndarray]:
        """One sequence (length + 1,) and where its answers stand."""
        facts = Facts.draw(rng, vocabulary, documents, template.facts)
        start = 1 + filler + documents * template.width
        each = template.question_width + 1
        n = -(-(length + 1 - start) // each)  # the last one may be cut off
        which, fact = rng.integers(documents, size=n), rng.integers(template.facts, size=n)
        asked = template.questions(facts.subjects[which], facts.relations[which, fact])
        asked = np.concatenate([asked, facts.objects[which, fact][:, None]], axis=1)
        row = np.concatenate(
            [[vocabulary.bos], text[:filler], template.documents(facts).ravel(), asked.ravel()]
        )
        answers = np.zeros(len(row), bool)
        answers[start + each - 1 :: each] = True
        return row[: length + 1], answers[: length + 1]
