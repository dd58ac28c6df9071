"""Short documents that state facts, as tokens: a subject is a key id, an object a value id, the
words between them are text.

    document   o k17 v3 b k17 v40 .     facts (subject, relation, object) of one subject, each with
               a relation of its own
    question   ? b k17                  is answered with v40

The subject stands right before its object, in a document as in a question, which a tiny model
learns many times faster than a sentence with words between, and relations are one letter long, so
that many facts fit into a short context. Who goes by the subject alone finds the document, but not
the fact in it where there are several.
"""

from dataclasses import dataclass

import numpy as np

from extrap.data.vocabulary import Vocabulary

RELATIONS = ("o", "i", "b", "t")  # of, in, by, to


@dataclass(frozen=True)
class Facts:
    """What K documents of F facts say. subjects (..., K) key ids; relations (..., K, F) indices;
    objects (..., K, F) value ids.
    """

    subjects: np.ndarray
    relations: np.ndarray
    objects: np.ndarray

    @classmethod
    def draw(
        cls, rng: np.random.Generator, vocabulary: Vocabulary, documents: int, facts: int
    ) -> "Facts":
        """Subjects all different, relations of a subject all different, objects free."""
        subjects = vocabulary.key(rng.permutation(vocabulary.keys)[:documents])
        relations = rng.random((documents, len(RELATIONS))).argsort(1)[:, :facts]
        return cls(
            subjects,
            relations,
            vocabulary.value(rng.integers(vocabulary.values, size=(documents, facts))),
        )

    def __getitem__(self, which) -> "Facts":
        return Facts(self.subjects[which], self.relations[which], self.objects[which])


@dataclass(frozen=True)
class Template:
    """words (R, w): tokens of the relations; stop, ask: of the full stop and the question mark;
    facts: of a document.
    """

    words: np.ndarray
    stop: int
    ask: int
    facts: int

    @classmethod
    def of(cls, vocabulary: Vocabulary, facts: int) -> "Template":
        """In the tokens of a vocabulary; of relations of different widths, as many tokens as the
        shortest has.
        """
        encoded = [vocabulary.encoder(word.encode())[0] for word in RELATIONS]
        width = min(map(len, encoded))
        stop, ask = (int(vocabulary.encoder(mark)[0][0]) for mark in (b".", b"?"))
        return cls(np.stack([ids[:width] for ids in encoded]).astype(np.int64), stop, ask, facts)

    @property
    def width(self) -> int:
        """Tokens of a document."""
        return self.facts * (self.words.shape[1] + 2) + 1

    @property
    def question_width(self) -> int:
        """Tokens of a question, its answer not counted."""
        return self.words.shape[1] + 2

    def most(self, length: int) -> int:
        """The most documents a context of `length` tokens holds next to BOS and one question."""
        return (length - 1 - self.question_width) // self.width

    def distance(self, documents: int, fact: int) -> int:
        """Tokens from the subject of a fact, in the first of so many documents, to that of the
        question right behind them.
        """
        each = self.words.shape[1] + 2
        return documents * self.width - fact * each + 1

    def documents(self, facts: Facts) -> np.ndarray:
        """(..., K, width) int64."""
        words = self.words[facts.relations]
        subjects = np.broadcast_to(facts.subjects[..., None], facts.objects.shape)
        said = np.concatenate([words, subjects[..., None], facts.objects[..., None]], axis=-1)
        said = said.reshape(*facts.subjects.shape, self.width - 1)
        return np.concatenate([said, np.full((*facts.subjects.shape, 1), self.stop)], axis=-1)

    def questions(self, subjects: np.ndarray, relations: np.ndarray) -> np.ndarray:
        """(..., question_width) int64."""
        ask = np.full((*subjects.shape, 1), self.ask)
        return np.concatenate([ask, self.words[relations], subjects[..., None]], axis=-1)
