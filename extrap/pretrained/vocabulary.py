"""The tokens of a published checkpoint: the tokens of its tokenizer without keys and values; or
with words as keys and values, one token each, so that an answer is one token as in our own
vocabulary.

    records      " apple: river\\n stone: lamp\\n ... apple:"        answer " river"
"""

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from extrap.data.encoder import Encoder, ids_behind
from extrap.data.tokenizer import Pieces, encoder
from extrap.data.turns import Turns
from extrap.data.vocabulary import RecordLayout, Vocabulary
from extrap.pretrained.chat import entries, turns
from extrap.utils.errors import UserError

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
WORD = re.compile("[\u0120\u2581][a-z]{3,8}")
"""A word of one token. It begins with a space, as byte-level BPE or SentencePiece writes it."""
SPECIAL = re.compile(r"<[^<>\s]+>|\[[A-Z][A-Z_0-9]*\]")
"""A token of no text: <image_soft_token>, <pad>, [PAD], [IMG_BREAK]."""
EXTRA = 64
"""Ids past the ids of the model of such tokens that the tokenizer does not mark as special."""
FEWEST = 64
EACH = 5
"""One word in so many is a value."""


def encoder_of(tokenizer: Any) -> Encoder:
    """Returns the encoder of a tokenizer of transformers or tokenizers, of a folder, or of a name
    on the hub. Raises UserError for anything else.
    """
    if isinstance(tokenizer, str | Path):
        return encoder(str(tokenizer), f"tokenizer={tokenizer}")
    inner = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not hasattr(inner, "to_str"):
        kind = type(tokenizer).__name__
        remedy = "give a fast tokenizer of transformers, a folder or a name on the hub"
        raise UserError("tokenizer", kind, "holds no tokenizer.json", remedy)
    source = inner.to_str()
    return Pieces(source, type(inner).from_str(source), "tokenizer")


def fits(tokens: Encoder, size: int) -> bool:
    """True if a model of so many ids reads the tokens of text: ids beyond are special tokens or
    additions (an image, padding), which no text has.
    """
    unmarked = [i for i in range(size, tokens.ids) if i not in tokens.special]
    return len(unmarked) <= EXTRA and all(SPECIAL.fullmatch(tokens.word(i)) for i in unmarked)


class OfTokenizer:
    """The BOS that the entries of a folder's tokenizer name, looked up when it is asked for."""

    def __init__(self, folder: Path):
        self.folder = folder

    @property
    def bos_token_id(self) -> int | None:
        if not (self.folder / "tokenizer.json").is_file():
            return None
        named = entries(self.folder).get("bos_token")
        word = named.get("content") if isinstance(named, dict) else named
        if not isinstance(word, str):
            return None
        tokens = encoder(str(self.folder), f"{self.folder}: its tokenizer.json")
        return next((i for i in range(tokens.ids) if tokens.word(i) == word), None)


class PublishedVocabulary(Vocabulary):
    """The ids of a tokenizer, up to the size of the embedding.

    Args:
        bos: the token that begins a window of text
        turns: of a chat template around the text of a task

    Raises UserError for a tokenizer with more tokens of text than the model. Keys and values have
    no ids of their own: extrap gives `words` to tasks that use words, and rejects other tasks that
    want keys.
    """

    def __init__(self, tokens: Encoder, size: int, bos: int, place: str):
        if type(bos) is not int or not 0 <= bos < size:
            raise UserError("model.bos", bos, f"expected an id from 0 to {size - 1}")
        if not fits(tokens, size):
            problem = f"a tokenizer of {tokens.ids} ids, a model of {size}"
            remedy = "give the tokenizer of the model; ids beyond are of special tokens alone"
            raise UserError(place, problem=problem, remedy=remedy)
        if isinstance(tokens, Pieces) and tokens.ids > size:
            tokens = tokens.below(size)
        self._encoder = tokens
        self._size = size
        self._bos = bos
        self._turns = Turns((bos,))
        self._place = place

    @classmethod
    def of_folder(cls, folder: Path, size: int, bos: int, place: str, chat: bool = False):
        """Returns the vocabulary of the tokenizer.json of a folder; chat: the text of a task lies
        in the turns of the folder's chat template. Raises UserError if the file is missing.
        """
        if not (folder / "tokenizer.json").is_file():
            problem = "holds no tokenizer.json to read text with"
            raise UserError(place, problem=problem, remedy="put it there")
        made = cls(encoder(str(folder), f"{place}: its tokenizer.json"), size, bos, place)
        if chat:
            made._turns = turns(folder, made.encoder, place)
        return made

    @property
    def encoder(self) -> Encoder:
        return self._encoder

    @property
    def size(self) -> int:
        return self._size

    @property
    def text(self) -> int:  # type: ignore[override]
        """Returns the number of ids of text, which is all of them."""
        return self._size

    @property
    def bos(self) -> int:
        return self._bos

    @property
    def turns(self) -> Turns:
        return self._turns

    @cached_property
    def words(self) -> "WordVocabulary":
        """The same tokens, with words as keys and values."""
        return WordVocabulary(self)

    @property
    def keys(self) -> int:  # type: ignore[override]
        raise self._no_keys()

    @property
    def values(self) -> int:  # type: ignore[override]
        raise self._no_keys()

    @property
    def key_ids(self) -> Sequence[int]:  # type: ignore[override]
        raise self._no_keys()

    @property
    def value_ids(self) -> Sequence[int]:  # type: ignore[override]
        raise self._no_keys()

    def _no_keys(self) -> UserError:
        """Returns the error of a task that wants ids for keys and values."""
        problem = "needs keys and values with ids of their own, on which a published checkpoint "
        tasks = "task=[nll,gap,kv,haystack,multidoc,multidoc-qa,nth,trace,lost-in-the-middle]"
        remedy = f"ask for {tasks}, or diagnostics with task.diagnostics.contents=[text]"
        return UserError("task", problem=f"{problem}was not trained", remedy=remedy)


class WordVocabulary(PublishedVocabulary):
    """The tokens of a checkpoint with words as keys and values: tokens of a space and three to
    eight small letters, in the order of their ids, which roughly follows their frequency. Every
    fifth is a value, the others are keys, and none is both. The eight ordinals come first among the
    keys, where extrap.data.nth has its marks.

    Raises UserError if the tokenizer has too few words, or reads records otherwise than word by
    word.
    """

    def __init__(self, plain: PublishedVocabulary):
        super().__init__(plain.encoder, plain.size, plain.bos, plain._place)
        self._turns = plain.turns
        tokens = [self.encoder.word(i) for i in range(self.encoder.ids)]
        found = {token[1:]: i for i, token in enumerate(tokens) if WORD.fullmatch(token)}
        ordinals = [found.pop(name) for name in ORDINALS if name in found]
        others = list(found.values())
        if len(others) < FEWEST:
            problem = f"only {len(others)} words of one token, too few for keys and values"
            raise UserError(self._place, problem=problem, remedy=f"{FEWEST} are needed")
        self._value_ids = others[EACH - 1 :: EACH]
        apart = {*self._value_ids}
        self._key_ids = [*ordinals, *(i for i in others if i not in apart)]
        self.ordinals = len(ordinals) == len(ORDINALS)
        self.layout = self._layout()

    @property
    def keys(self) -> int:  # type: ignore[override]
        return len(self._key_ids)

    @property
    def values(self) -> int:  # type: ignore[override]
        return len(self._value_ids)

    @property
    def key_ids(self) -> Sequence[int]:  # type: ignore[override]
        return self._key_ids

    @property
    def value_ids(self) -> Sequence[int]:  # type: ignore[override]
        return self._value_ids

    def _layout(self) -> RecordLayout:
        """Returns the tokens between and behind the words of a record."""
        key, value = self.key_ids[-1], self.value_ids[-1]
        names = [self.encoder.word(i)[1:] for i in (key, value)]
        text = " {0}: {1}\n {0}:".format(*names)
        ids = ids_behind(self.encoder, "\n", text).tolist()
        places = [n for n, i in enumerate(ids) if i in (key, value)]
        if len(places) == 3 and places[0] == 0:
            between = ids[1 : places[1]]
            behind = ids[places[1] + 1 : places[2]]
            if ids[places[2] :] == [key, *between] and ids[places[1]] == value:
                return RecordLayout(tuple(between), tuple(behind))
        problem = "its tokenizer merges the words of records"
        remedy = "ask for task=[nll,gap,lost-in-the-middle,multidoc-qa]"
        raise UserError(self._place, problem=problem, remedy=remedy)

    def check_keys(self, needed: int, why: str) -> None:
        if self.keys < needed:
            problem = f"the tokenizer has {self.keys} words for keys, of {needed} needed, {why}"
            remedy = "give shorter lengths, or ask for task=haystack"
            raise UserError("task", problem=problem, remedy=remedy)

    def key(self, i):
        return np.array(self.key_ids)[i]

    def value(self, i):
        return np.array(self.value_ids)[i]
