"""A corpus: documents of text from a source, split into train and validation, opened as a map of
tokens.

    source.documents() -> (name, text) ...  -encoded, cut (pieces.py), split by a hash of the name->
                          token map         ->  Corpus.stream, Corpus.documents

extrap does not read a source again while its fingerprint (files with sizes and times, or the name
of a hub set) is the same: `<cache>/index/<fingerprint>` holds the content hash of its map.
"""

import hashlib
import json
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Interval

from extrap.data.corpora import token_map as tokens
from extrap.data.corpora.pieces import Text, pieces
from extrap.data.corpora.shards import SHARD
from extrap.data.encoder import BYTES, Encoder
from extrap.utils import atomic
from extrap.utils.errors import UserError
from extrap.utils.untrusted import read_text

Portion = Annotated[float, Interval(gt=0, lt=1)]

OF_TOKEN = 4
"""Bytes of text behind a token of a tokenizer, in prose."""

KEPT = "EXTRAP_TOKENS"
"""Names, in the environment, the folder of token maps; `runs/.tokens` where it names none."""


@dataclass(frozen=True)
class Corpus:
    """An opened corpus, read-only.

    Args:
        name: for people
        option: for messages
        sha256: hash of the whole text
        cut: the option `document_tokens`, or None
        limit: the option `limit`, or None
    """

    name: str
    option: str
    sha256: str
    maps: dict[str, tokens.Stream]
    cut: int | None = None
    limit: int | None = None

    @property
    def or_more(self) -> str:
        """Returns the end of an advice to give more text, if the option `limit` ended this one."""
        found = sum(len(own.tokens) for own in self.maps.values())
        ended = self.limit is not None and found >= self.limit
        return f", or raise data.corpus.limit={self.limit}" if ended else ""

    def stream(self, split: str) -> np.ndarray:
        """Returns the documents of "train" or "validation" in a row, (N,) unsigned, no BOS."""
        return self.maps[split].tokens

    def documents(self, split: str, at_least: int = 0) -> list[np.ndarray]:
        """Returns the documents of a split with `at_least` tokens or more, views of the map, in a
        fixed order.
        """
        stream = self.stream(split)
        return [stream[a:b] for a, b in self._places(split, at_least)]

    def sizes(self, split: str, at_least: int = 0) -> list[np.ndarray]:
        """Returns the bytes of text behind each token of the same documents."""
        sizes = self.maps[split].sizes
        return [
            np.broadcast_to(np.uint8(1), b - a) if sizes is None else sizes[a:b]
            for a, b in self._places(split, at_least)
        ]

    def _places(self, split: str, at_least: int) -> list[tuple[int, int]]:
        ends = pairwise(self.maps[split].offsets.tolist())
        return [(a, b) for a, b in ends if b - a >= at_least]

    def check(self, split: str, at_least: int) -> None:
        """Raises UserError if the split has fewer tokens than one window needs."""
        if (found := len(self.stream(split))) < at_least:
            problem = f"the text has {found} {split} tokens, but one window has {at_least}"
            remedy = f"give more text or shorter lengths{self.or_more}"
            raise UserError(self.option, problem=problem, remedy=remedy)


@dataclass(frozen=True, kw_only=True)
class Source(ABC):
    """A source of text.

    Args:
        validation: share of the documents kept for validation, chosen by a hash of their names
    """

    validation: Portion = 0.1

    later: ClassVar[tuple[str, ...]] = ()
    """Options that the first maps did not have, which an unset one leaves as they are."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Returns a short name for rows and figures."""

    @property
    @abstractmethod
    def option(self) -> str:
        """Returns the option and value that chose this source, for messages."""

    @property
    def place(self) -> str:
        """Returns the absolute form of the relative paths that this source reads, or ""."""
        return ""

    @property
    def longest(self) -> int | None:
        """Returns the most tokens of a document, in ids of the vocabulary; None: any number."""
        return None

    @property
    def most(self) -> int | None:
        """Returns the tokens that are read, in ids of the vocabulary; None: all."""
        return None

    @property
    def text_size(self) -> int:
        """Returns the bytes of text, as far as they are known before it is read."""
        return 0

    @abstractmethod
    def documents(self) -> Iterator[tuple[str, Text]]:
        """Yields (name, text) of each document, in a fixed order. A long text may come in blocks.
        Raises UserError without text.
        """

    @abstractmethod
    def state(self) -> list | None:
        """Returns plain values that change whenever the text does; None if only reading the text
        can tell.
        """

    def split_for(self, name: str) -> str:
        """Returns the split of a document, "train" or "validation", by its name."""
        return split_of(name, self.validation)

    def open(self, cache: str | Path | None = None, encoder: Encoder = BYTES) -> Corpus:
        """Returns the corpus of this source, built below `cache` the first time. Raises UserError
        for a missing or too short text, for a text whose tokens have no room on the disk, and for a
        link in place of the cache.
        """
        kept = Path(os.environ.get(KEPT) or "runs/.tokens").expanduser()
        cache = kept if cache is None else Path(cache)
        atomic.check_way(cache)
        before = self._fingerprint(encoder)
        shards = cache / f".writing-{before}" if before else None
        tokens.remove_left(cache, shards)
        index = cache / "index" / before if before else None
        sha256 = ""
        if index and index.is_file():
            with suppress(UserError):
                sha256 = read_text(index)
        maps = tokens.read(cache, sha256, encoder) if sha256 else None
        if maps is None:
            self._check_room(cache, encoder, shards)
            made = pieces(self.documents(), encoder, self.longest, self.most, shards)
            sha256 = tokens.write_encoded(
                cache, ((self.split_for(p.name), p) for p in made), encoder
            )
            if shards is not None:
                shutil.rmtree(shards, ignore_errors=True)
            if (maps := tokens.read(cache, sha256, encoder)) is None:
                problem = "another process changed this token map while extrap read it"
                remedy = "let nothing else write there"
                raise UserError(cache / sha256, problem=problem, remedy=remedy)
            # Text that changed while it was read has a map of its own; it must not be found under
            # either state.
            if index and self._fingerprint(encoder) == before:
                atomic.replace(index, sha256.encode())
        cut = getattr(self, "document_tokens", None)
        corpus = Corpus(self.title, self.option, sha256, maps, cut, self.most)
        for split in tokens.SPLITS:
            if not len(corpus.stream(split)):
                problem = f"no document is in the {split} split"
                remedy = "give more documents, or cut long ones with data.corpus.document_tokens"
                remedy += corpus.or_more
                raise UserError(self.option, problem=problem, remedy=remedy)
        return corpus

    def _check_room(self, cache: Path, encoder: Encoder, shards: Path | None) -> None:
        """shards: those of a killed process, which take room already, are gone on from."""
        needed = _written(self.text_size, encoder)
        disk = next(path for path in (cache, *cache.absolute().parents) if path.is_dir())
        kept = shards.glob("*") if shards else ()
        free = shutil.disk_usage(disk).free + sum(path.stat().st_size for path in kept)
        if needed > free:
            has = f"this machine has {free / 2**30:,.1f} GiB on the disk of {cache}"
            problem = f"its tokens take {needed / 2**30:,.1f} GiB, and {has}"
            remedy = f"make room, give less text, or name a folder of another disk in {KEPT}"
            raise UserError(self.option, problem=problem, remedy=remedy)

    def _fingerprint(self, encoder: Encoder) -> str | None:
        if (state := self.state()) is None:
            return None
        options = asdict(self)
        for name in self.later:
            if options[name] == getattr(type(self), name):
                del options[name]
        identity = [encoder.name, type(self).__qualname__, options, state]
        if encoder.sized and self.longest is not None:
            identity.append("cut in tokens")
        if getattr(self, "begins", None) is not None:
            identity.append("begun by lines, behind a separator numbered")
        return hashlib.sha256(json.dumps(identity).encode()).hexdigest()


def _written(size: int, encoder: Encoder) -> int:
    """Returns the bytes on the disk while a map of a text of so many bytes is written: a token has
    its id and its size in the map, and in the shards of a large text once more.
    """
    each = np.dtype(encoder.dtype).itemsize
    if not encoder.sized:
        return size * each
    in_shards = each + 1 if size > SHARD else 0
    return size * (each + 4 + in_shards) // OF_TOKEN


def split_of(name: str, validation: float) -> str:
    """Returns the split of a document, by its name alone: a new document moves no other."""
    digest = hashlib.sha256(os.fsencode(name)).digest()
    share = int.from_bytes(digest[:8]) / 2**64
    return "validation" if share < validation else "train"
