"""Keys and values as words of a tokenizer, for the tasks that ask for records: one token each, so
that an answer is one token as in the ids of our own.

    records      " apple: river\\n stone: lamp\\n ... apple:"        answer " river"

Words are tokens of a space and three to eight small letters, in the order of their ids, which is
about that of their frequency; every fifth is a value, the others are keys, and none is both. The
eight ordinals come first among the keys, where extrap.data.nth has its marks.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from extrap.data.turns import Turns
from extrap.data.vocabulary import RecordLayout, Vocabulary
from extrap.utils.errors import UserError

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
SPACES = "\u0120\u2581"
"""What a token that begins with a space is written with: byte-level BPE, SentencePiece."""
FEWEST = 64
EACH = 5
"""One word in so many is a value."""


class WordVocabulary(Vocabulary):
    """The tokens of a checkpoint, of which some are keys and values.

    tokens: of the checkpoint. Raises UserError where the tokenizer has too few words, or reads
    records otherwise than word by word.
    """

    def __init__(self, tokens: Vocabulary, place: str):
        encoder: Any = tokens.encoder
        found = [i for i in range(encoder.ids) if _is_word(encoder.word(i))]
        ordinals = [i for i in found if encoder.word(i)[1:] in ORDINALS]
        ordinals.sort(key=lambda i: ORDINALS.index(encoder.word(i)[1:]))
        others = [i for i in found if i not in set(ordinals)]
        if len(others) < FEWEST:
            raise UserError(
                place,
                problem=f"only {len(others)} words of one token, too few for keys and values",
                remedy=f"{FEWEST} are needed",
            )
        values = others[EACH - 1 :: EACH]
        keys = [*ordinals, *(i for n, i in enumerate(others) if n % EACH != EACH - 1)]
        made = {
            "tokens": tokens,
            "keys": len(keys),
            "values": len(values),
            "_keys": np.array(keys),
            "_values": np.array(values),
            "ordinals": len(ordinals) == len(ORDINALS),
        }
        for name, value in made.items():
            object.__setattr__(self, name, value)  # the parent is frozen
        object.__setattr__(self, "layout", self._layout(place))

    def _layout(self, place: str) -> RecordLayout:
        """What the tokenizer puts between and behind the words of a record."""
        key, value = int(self._keys[-1]), int(self._values[-1])
        names = [self.tokens.encoder.word(i)[1:] for i in (key, value)]
        text = " {0}: {1}\n {0}:".format(*names)
        ids = self.tokens.encoder(text.encode())[0].tolist()
        places = [n for n, i in enumerate(ids) if i in (key, value)]
        if len(places) == 3 and places[0] == 0:
            between, behind = ids[1 : places[1]], ids[places[1] + 1 : places[2]]
            if ids[places[2] :] == [key, *between] and ids[places[1]] == value:
                return RecordLayout(tuple(between), tuple(behind))
        raise UserError(
            place,
            problem="its tokenizer merges the words of records",
            remedy="ask for task=[nll,gap,lost-in-the-middle]",
        )

    @property
    def encoder(self) -> Any:
        return self.tokens.encoder

    @property
    def text(self) -> int:  # type: ignore[override]
        return self.tokens.text

    @property
    def size(self) -> int:
        return self.tokens.size

    @property
    def bos(self) -> int:
        return self.tokens.bos

    @property
    def turns(self) -> Turns:
        return self.tokens.turns

    @cached_property
    def key_ids(self) -> Sequence[int]:  # type: ignore[override]
        return self._keys.tolist()

    @cached_property
    def value_ids(self) -> Sequence[int]:  # type: ignore[override]
        return self._values.tolist()

    def key(self, i):
        return self._keys[i]

    def value(self, i):
        return self._values[i]

    def _word(self, i: int) -> str:
        return self.encoder.word(i)


def _is_word(token: str) -> bool:
    letters = token[1:]
    return (
        token[:1] in SPACES
        and 3 <= len(letters) <= 8
        and letters.isascii()
        and letters.isalpha()
        and letters.islower()
    )
