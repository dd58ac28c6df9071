"""The tokens of a published checkpoint: those of its tokenizer, and none for keys and values."""

from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from extrap.data.encoder import Encoder
from extrap.data.tokenizer import Pieces, encoder
from extrap.data.turns import Turns
from extrap.data.vocabulary import Vocabulary
from extrap.pretrained.chat import turns
from extrap.pretrained.words import WordVocabulary
from extrap.utils.errors import UserError


def encoder_of(tokenizer: Any) -> Encoder:
    """The encoder of a tokenizer of transformers or tokenizers, of a folder, or of a name on the
    hub. Raises UserError for anything else.
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


class PublishedVocabulary(Vocabulary):
    """ids of a tokenizer, up to the size of the embedding; bos: what a window of text begins with;
    turns: of a chat template around the text of a task.

    Raises UserError for a tokenizer with more tokens than the model. Keys and values have no ids of
    their own: extrap gives `words` to tasks that use words, and rejects other tasks that want keys.
    """

    def __init__(
        self, tokens: Encoder, size: int, bos: int, place: str, turns: Turns | None = None
    ):
        if type(bos) is not int or not 0 <= bos < size:
            raise UserError("model.bos", bos, f"expected an id from 0 to {size - 1}")
        if tokens.ids > size:
            raise UserError(place, problem=f"a tokenizer of {tokens.ids} ids, a model of {size}")
        known = {"_encoder": tokens, "_size": size, "_bos": bos, "_place": place}
        for name, value in (known | {"_turns": turns or Turns((bos,))}).items():
            object.__setattr__(self, name, value)  # the parent is frozen

    @classmethod
    def of_folder(cls, folder: Path, size: int, bos: int, place: str, chat: bool = False):
        """The vocabulary of the tokenizer.json of a folder; chat: the text of a task lies in the
        turns of the folder's chat template. Raises UserError if the file is missing.
        """
        if not (folder / "tokenizer.json").is_file():
            raise UserError(
                place, problem="holds no tokenizer.json to read text with", remedy="put it there"
            )
        made = encoder(str(folder), f"{place}: its tokenizer.json")
        plain = cls(made, size, bos, place)
        return cls(made, size, bos, place, turns(folder, made, place)) if chat else plain

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
                "ask for task=[nll,gap,kv,haystack,multidoc,nth,trace,lost-in-the-middle], or "
                "diagnostics with task.diagnostics.contents=[text]"
            ),
        )

    values = key_ids = value_ids = keys  # type: ignore[assignment]

    def _word(self, i: int) -> str:
        return self._encoder.word(i)
