"""Short documents that state facts, as tokens: a subject is a key id, an object a value id, the
words between them are text.

    document   o k17 v3 b k17 v40 .     facts (subject, relation, object) of one subject, each with
               a relation of its own
    question   ? b k17                  is answered with v40

In the words of a tokenizer:

    document   The color of apple is river The owner of apple is stone.
    question   The owner of apple is    is answered with stone

The subject stands right before its object, in a document as in a question, which a tiny model
learns many times faster than a sentence with words between, and relations are one letter long, so
that many facts fit into a short context. Who goes by the subject alone finds the document, but not
the fact in it where there are several.
"""

from dataclasses import dataclass

import numpy as np

from extrap.data.context import Context
from extrap.data.encoder import ids_behind
from extrap.data.vocabulary import Vocabulary
from extrap.utils.errors import UserError

RELATIONS = ("o", "i", "b", "t")  # of, in, by, to


ENGLISH = (" The color of", " The owner of", " The place of", " The price of")


@dataclass(frozen=True)
class Facts:
    """The content of K documents of F facts.

    Args:
        subjects: (..., K) key ids
        relations: (..., K, F) indices
        objects: (..., K, F) value ids
    """

    subjects: np.ndarray
    relations: np.ndarray
    objects: np.ndarray

    @classmethod
    def draw(cls, context: Context, documents: int, facts: int) -> "Facts":
        """Draws different subjects, different relations of each subject, and any objects."""
        subjects = context.keys(documents)
        order = context.rng.random((documents, len(RELATIONS))).argsort(1)
        objects = context.values(documents, facts)
        return cls(subjects, order[:, :facts], objects)

    def __getitem__(self, which) -> "Facts":
        return Facts(self.subjects[which], self.relations[which], self.objects[which])


@dataclass(frozen=True)
class Template:
    """The tokens of facts.

    Args:
        words: (R, w) of the relations
        after: between subject and object
        stop: of the full stop
        ask: in front of a question
        facts: of a document
    """

    words: np.ndarray
    after: np.ndarray
    stop: int
    ask: int
    facts: int

    @classmethod
    def of(cls, vocabulary: Vocabulary, facts: int) -> "Template":
        """Returns the template in the tokens of a vocabulary; if relations differ in width, each
        has as many tokens as the shortest. Raises UserError if that cuts a sentence.
        """
        relations, after, ask = RELATIONS, "", "?"
        if in_words := bool(vocabulary.layout.between):
            relations, after, ask = ENGLISH, " is", "\n"

        def ids(text: str) -> np.ndarray:
            return ids_behind(vocabulary.encoder, "x", text)

        encoded = [ids(word) for word in relations]
        width = min(map(len, encoded))
        if in_words and any(len(word) != width for word in encoded):
            problem = "the tokenizer writes 'The color of' and 'The owner of' in different widths"
            raise UserError("task.multidoc", problem=problem, remedy="leave the task out")
        words = np.stack([word[:width] for word in encoded])
        stop = int(ids(".")[0])
        asking = int(ids(ask)[0])
        return cls(words, ids(after), stop, asking, facts)

    @property
    def each(self) -> int:
        """Returns the tokens of a fact, and of a question without its answer."""
        return self.words.shape[1] + len(self.after) + 2

    @property
    def width(self) -> int:
        """Returns the tokens of a document."""
        return self.facts * self.each + 1

    def most(self, length: int) -> int:
        """Returns how many documents `length` tokens hold next to BOS and one question."""
        return (length - 1 - self.each) // self.width

    def documents(self, facts: Facts) -> np.ndarray:
        """Returns documents (..., K, width) int64."""
        each = facts.subjects.shape
        subjects = np.broadcast_to(facts.subjects[..., None], facts.objects.shape)
        asked = self.questions(subjects, facts.relations)[..., 1:]  # a fact answers its question
        told = np.concatenate([asked, facts.objects[..., None]], axis=-1)
        sentences = told.reshape(*each, self.width - 1)
        stop = np.full((*each, 1), self.stop)
        return np.concatenate([sentences, stop], axis=-1)

    def questions(self, subjects: np.ndarray, relations: np.ndarray) -> np.ndarray:
        """Returns questions (..., each) int64."""
        ask = np.full((*subjects.shape, 1), self.ask)
        words = self.words[relations]
        after = np.tile(self.after, (*subjects.shape, 1))
        return np.concatenate([ask, words, subjects[..., None], after], axis=-1)
