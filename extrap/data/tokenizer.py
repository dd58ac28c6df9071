"""Text as tokens of a Hugging Face tokenizer; needs the extra `tokenizers`."""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from extrap.data.corpora.reader import line
from extrap.data.vocabulary import Vocabulary
from extrap.utils.errors import UserError
from extrap.utils.paths import PACKAGE, in_package
from extrap.utils.pip import install_extra
from extrap.utils.untrusted import TABLE, read_text

OPTION = "data.vocabulary.tokenizer"
LONGER = 256
"""Times its length that a tokenizer may write for a text; three replacements in a row of a file of
4 KB make a gigabyte of every character.
"""
NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
PATIENCE = 10.0  # seconds for the hub to answer
NO_TOKENIZER = "this is no tokenizer.json of Hugging Face", "give the tokenizer.json of a model"
PLACES = "give a tokenizer.json, a folder that holds one, or a name on the hub"
FAILS = "the tokenizer fails on this text", "use another tokenizer"


@dataclass(frozen=True)
class Tokenized(Vocabulary):
    """The vocabulary of a tokenizer: ids of the tokenizer | BOS | `keys` key ids | `values` value
    ids.

    Args:
        tokenizer: a tokenizer.json, a folder that holds one, package:NAME/FILE of an installed
            package, or the name of a model on the hub (then kept in the cache of the hub)

    No special token is added to a text; keys and values never occur in a text. Raises UserError if
    the tokenizer is missing.
    """

    tokenizer: str = field(kw_only=True)

    @cached_property
    def encoder(self) -> "Pieces":  # type: ignore[override]
        return encoder(self.tokenizer)

    @property
    def text(self) -> int:
        return self.encoder.ids


class Pieces:
    """The encoder of a tokenizer. It drops an incomplete character at the end of a piece cut in
    bytes.

    The bytes of a token reach from the end of the token before it to its own end in the text, so
    that the bytes of a document add up whatever the tokenizer leaves out (spaces, cases) or splits
    (characters of several bytes). One text has one encoding: dropout, which leaves out merges at
    random, is off.

    Args:
        source: a tokenizer.json
        option: the option behind it, for messages
    """

    sized = True

    def __init__(self, source: str, tokenizer: Any, option: str):
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer, self._option = tokenizer, option
        self.ids = max(tokenizer.get_vocab().values(), default=0) + 1
        self.dtype = "<u2" if self.ids <= 2**16 else "<u4"
        self.name = f"tokenizer {hashlib.sha256(source.encode()).hexdigest()}, {self.dtype}"
        if getattr(tokenizer.model, "dropout", None):
            tokenizer.model.dropout = None
            self.name += ", without dropout"

    def __call__(self, text: bytes) -> tuple[np.ndarray, np.ndarray]:
        decoded = text.decode("utf-8", "ignore")
        with _one_line(self._option, *FAILS):
            made = self._tokenizer.encode(decoded, add_special_tokens=False)
        points = np.frombuffer(decoded.encode("utf-32-le"), "<u4")
        width = 1 + (points >= 0x80) + (points >= 0x800) + (points >= 0x10000)
        last = np.array([end for _, end in made.offsets], np.int64)
        places = np.concatenate([[0], width.cumsum()])
        ends = places[last]
        if len(ends):
            ends[-1] = width.sum()
        ends = np.maximum.accumulate(ends)
        return np.array(made.ids, np.int64), np.diff(ends, prepend=0)

    def batch(self, texts: Sequence[bytes]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Returns what a call returns for each text, in less time."""
        if self._widths is None:
            return [self(text) for text in texts]
        decoded = [text.decode("utf-8", "ignore") for text in texts]
        with _one_line(self._option, *FAILS):
            made = self._tokenizer.encode_batch_fast(decoded, add_special_tokens=False)
        found = []
        for text, one in zip(texts, made, strict=True):
            ids = np.array(one.ids, np.int64)
            ends = self._widths[ids].cumsum()
            whole = int(ends[-1]) if len(ends) else 0
            if whole == len(text):
                found.append((ids, _whole_characters(text, ends)))
            else:  # tokens that leave something out need their places in the text
                found.append(self(text))
        return found

    @cached_property
    def _widths(self) -> np.ndarray | None:
        """The bytes of each id of byte-level byte pairs, whose tokens are runs of bytes of a text;
        None for other tokenizers.
        """
        made = json.loads(self._tokenizer.to_str())
        before, behind = made["pre_tokenizer"] or {}, made["post_processor"] or {}
        steps = before.get("pretokenizers", [before])
        levels = [step for step in steps if step.get("type") == "ByteLevel"]
        changed = made["normalizer"] or any(level["add_prefix_space"] for level in levels)
        later = behind.get("processors", [behind] if behind else [])
        # a template adds special tokens alone, which are off
        later = [step for step in later if step["type"] != "TemplateProcessing"]
        trimmed = any(step["type"] != "ByteLevel" or step["trim_offsets"] for step in later)
        if made["model"]["type"] != "BPE" or not levels or changed or trimmed:
            return None
        widths = np.zeros(self.ids, np.int64)
        for word, i in self._tokenizer.get_vocab(with_added_tokens=False).items():
            widths[i] = len(word)  # a character stands for a byte
        for one in made["added_tokens"]:
            widths[one["id"]] = len(one["content"].encode())
        return widths

    @cached_property
    def special(self) -> frozenset[int]:
        made = json.loads(self._tokenizer.to_str())
        return frozenset(one["id"] for one in made["added_tokens"] if one["special"])

    def decode(self, ids: Iterable[int]) -> str:
        parts: list[str] = []
        for text, run in groupby(ids, lambda i: i < self.ids):
            kept = list(run)
            with _one_line(self._option, *FAILS):
                shown = self._tokenizer.decode(kept, skip_special_tokens=False)
            parts.append(shown if text else "\n" * len(kept))
        return "".join(parts)

    def below(self, size: int) -> "Pieces":
        """Returns the encoder without ids from `size` on: a text that holds the characters of such
        a token is read as text.
        """
        made = json.loads(self._tokenizer.to_str())
        made["added_tokens"] = [one for one in made["added_tokens"] if one["id"] < size]
        if isinstance(words := made["model"].get("vocab"), dict):
            made["model"]["vocab"] = {word: i for word, i in words.items() if i < size}
        source = json.dumps(made)
        with _one_line(self._option, *NO_TOKENIZER):
            found = Pieces(source, type(self._tokenizer).from_str(source), self._option)
        found.name = f"{self.name}, {size} ids"
        return found

    def word(self, i: int) -> str:
        return self._tokenizer.id_to_token(i) or f"<{i}>"


def _whole_characters(text: bytes, ends: np.ndarray) -> np.ndarray:
    """Returns the bytes behind tokens that end at these bytes. A token that ends within a character
    has all of it.
    """
    if not text.isascii():
        inside = np.frombuffer(text, np.uint8) & 0xC0 == 0x80
        starts = np.append(np.flatnonzero(~inside), len(text))
        ends = starts[np.searchsorted(starts, ends)]
    return np.diff(ends, prepend=0)


@contextmanager
def _one_line(option: str, problem: str, remedy: str) -> Iterator[None]:
    """Turns whatever a library raises into a UserError, a panic of tokenizers among them: a pattern
    that gives up on a text.

    A panic is no Exception, and prints a traceback of its own before Python hears of it.
    """
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    except BaseException as error:  # the libraries raise nothing narrower
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise UserError(option, problem=f"{problem} ({line(error):.100})", remedy=remedy) from None
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def encoder(tokenizer: str, place: str | None = None) -> Pieces:
    """Returns the encoder of a tokenizer by file, folder or name, one for each content of the file.
    place: its name in messages, unless an option names it. Raises UserError if the tokenizer is
    missing or cannot be read.
    """
    option = place or f"{OPTION}={tokenizer}"
    if find_spec("tokenizers") is None:
        problem, remedy = "this option needs tokenizers", install_extra("tokenizers")
        raise UserError(option, problem=problem, remedy=remedy)
    path = _found(tokenizer)
    if path.suffix == ".gguf":
        raise UserError(option, problem="a GGUF file is no tokenizer.json", remedy=PLACES)
    return _pieces(_read(path, option), option)


@lru_cache(maxsize=8)
def _pieces(source: str, option: str) -> Pieces:
    from tokenizers import Tokenizer

    with _one_line(option, *NO_TOKENIZER):
        read = Tokenizer.from_str(source)
        made = Pieces(source, read, option)
    for part in (read.normalizer, read.decoder):
        if part is not None and (times := _growth(json.loads(part.__getstate__()))) > LONGER:
            problem = f"it may make a text {times:,} times as long, more than {LONGER} times"
            raise UserError(option, problem=problem, remedy="give another tokenizer")
    if not made.ids > 1:
        problem = "the tokenizer has fewer than two tokens"
        raise UserError(option, problem=problem, remedy="give another one")
    return made


def _growth(step: dict[str, Any]) -> int:
    """Returns how many times as long a text may be after a step of a normaliser or a decoder: steps
    in a sequence multiply what a replacement writes for a character.
    """
    times = max(1, len(str(step.get("content", ""))))
    for inside in (*step.get("normalizers", ()), *step.get("decoders", ())):
        times *= _growth(inside)
    return times


def _read(path: Path, option: str) -> str:
    try:
        return read_text(path, TABLE)
    except UserError as error:
        problem, remedy = NO_TOKENIZER
        raise UserError(option, problem=f"{problem} ({error.problem})", remedy=remedy) from None


def _found(tokenizer: str) -> Path:
    packed = tokenizer.startswith(PACKAGE)
    path = in_package(tokenizer) if packed else Path(os.path.expanduser(tokenizer))
    path = path / "tokenizer.json" if path.is_dir() else path
    if path.is_file():
        return path
    if path.suffix == ".json" or not NAME.fullmatch(tokenizer):
        raise UserError(OPTION, tokenizer, "there is no such file", PLACES)
    import huggingface_hub

    # its attempts without network take half a minute: whether it answers at all is asked once
    kept = huggingface_hub.try_to_load_from_cache(tokenizer, "tokenizer.json")
    if isinstance(kept, str):
        return Path(kept)
    remedy = "without network give a tokenizer.json, or use data/vocabulary=bytes"
    option = f"{OPTION}={tokenizer}"
    with _one_line(option, "the hub does not serve this tokenizer", remedy):
        huggingface_hub.HfApi().model_info(tokenizer, timeout=PATIENCE)
        return Path(huggingface_hub.hf_hub_download(tokenizer, "tokenizer.json"))
