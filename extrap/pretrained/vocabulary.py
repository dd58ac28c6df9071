"""The tokens of a published checkpoint: those of its tokenizer, and none for keys and values."""

from functools import cached_property
from pathlib import Path
from typing import NoReturn

from extrap.data.encoder import Encoder
from extrap.data.tokenizer import encoder
from extrap.data.turns import Turns
from extrap.data.vocabulary import Vocabulary
from extrap.pretrained.chat import turns
from extrap.pretrained.words import WordVocabulary
from extrap.utils.errors import UserError


class PublishedVocabulary(Vocabulary):
    """ids of a tokenizer, up to the size of the embedding; bos: what a window of text begins with.

    folder: holds tokenizer.json. Raises UserError where it is missing or has more tokens than the
    model. Keys and values have no ids of their own: tasks that can ask in words are handed `words`,
    others that want them are refused. chat: whether the text of a task stands in the turns of the
    checkpoint's chat template.
    """

    def __init__(self, folder: Path, size: int, bos: int, place: str, chat: bool = False):
        if not (folder / "tokenizer.json").is_file():
            raise UserError(
                place, problem="holds no tokenizer.json to read text with", remedy="put it there"
            )
        if type(bos) is not int or not 0 <= bos < size:
            raise UserError("model.bos", bos, f"expected an id from 0 to {size - 1}")
        made = encoder(str(folder), f"{place}: its tokenizer.json")
        if made.ids > size:
            raise UserError(place, problem=f"a tokenizer of {made.ids} ids, a model of {size}")
        known = {"_encoder": made, "_size": size, "_bos": bos, "_place": place}
        known["_turns"] = turns(folder, made, place) if chat else Turns((bos,))
        for name, value in known.items():
            object.__setattr__(self, name, value)  # the parent is frozen

    @property
    def encoder(self) -> Encoder:
        return self._encoder

    @property
    def text(self) -> int:  # type: ignore[override]
        return self._size

    @property
    def size(self) -> int:
        return self._size

    @property
    def bos(self) -> int:
        return self._bos

    @property
    def turns(self) -> Turns:
        return self._turns

    @cached_property
    def words(self) -> WordVocabulary:
        """The same tokens, of which some are keys and values."""
        return WordVocabulary(self, self._place)

    @property
    def keys(self) -> NoReturn:  # type: ignore[override]
        raise UserError(
            "task",
            problem=(
                "needs keys and values with ids of their own, on which a published "
                "checkpoint was not trained"
            ),
            remedy=(
                "ask for task=[nll,gap,kv,haystack,multidoc,nth,lost-in-the-middle], or "
                "diagnostics with task.diagnostics.contents=[text]"
            ),
        )

    values = key_ids = value_ids = keys  # type: ignore[assignment]

    def _word(self, i: int) -> str:
        return self._encoder.word(i)
