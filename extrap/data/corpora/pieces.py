"""From the documents of a source to pieces with their tokens, in order.

Bytes are cut as they are read. A tokenizer reads whole documents, or blocks of BLOCK bytes that end
with a line (shards.py); its tokens are cut afterwards.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import chain, starmap
from pathlib import Path

import numpy as np

from extrap.data.corpora.shards import Piece, encoded
from extrap.data.encoder import Encoder
from extrap.utils.errors import UserError
from extrap.utils.progress import Progress

BLOCK = 2**22
"""Bytes of text that a tokenizer reads at once."""
QUIET = 3.0
"""Seconds of reading bytes before its progress is shown."""

Text = bytes | Iterator[bytes]
"""The text of a document, or of a long one its blocks."""


def pieces(
    documents: Iterable[tuple[str, Text]],
    encoder: Encoder,
    longest: int | None = None,
    most: int | None = None,
    folder: Path | None = None,
) -> Iterator[Piece]:
    """Yields the pieces of documents. longest: tokens of a piece; most: tokens of all of them;
    folder: of the shards, which need none if the text is small.
    """
    left = most
    for piece in _cut(documents, encoder, longest, folder):
        if left is None:
            yield piece
            continue
        if left <= 0:
            return
        yield first(piece, left)
        left -= len(piece.ids)


def first(piece: Piece, tokens: int) -> Piece:
    """Returns the first tokens of a piece, with their text."""
    if len(piece.ids) <= tokens:
        return piece
    ids = piece.ids[:tokens]
    behind = piece.behind[:tokens]
    text = piece.text[: int(behind.sum())]
    return Piece(piece.name, text, ids, behind)


def _cut(
    documents: Iterable[tuple[str, Text]],
    encoder: Encoder,
    longest: int | None,
    folder: Path | None,
) -> Iterator[Piece]:
    if not encoder.sized:
        yield from _told(_in_bytes(documents, encoder, longest))
        return
    texts = chain.from_iterable(starmap(blocks, documents))
    for piece in encoded(texts, encoder, folder):
        if longest is None or len(piece.ids) <= longest:
            yield piece
        else:
            yield from _cut_tokens(piece, longest)


def _in_bytes(
    documents: Iterable[tuple[str, Text]], encoder: Encoder, longest: int | None
) -> Iterator[Piece]:
    for name, text in documents:
        for part, content in cut(name, text, longest):
            yield Piece(part, content, *encoder(content))


def _told(found: Iterable[Piece]) -> Iterator[Piece]:
    """Yields pieces, with progress once they have taken QUIET seconds."""
    with ExitStack() as stack:
        began, size, progress = time.monotonic(), 0, None
        for piece in found:
            yield piece
            size += len(piece.text)
            if progress is None and time.monotonic() - began >= QUIET:
                progress = stack.enter_context(Progress("MiB of text read"))
            if progress is not None:
                progress(size // 2**20)


def _cut_tokens(piece: Piece, longest: int) -> Iterator[Piece]:
    """Yields a text in pieces of `longest` tokens, name#0, name#1, ..."""
    ends = np.concatenate([[0], piece.behind.cumsum(dtype=np.int64)])
    count = len(piece.ids)
    for i, at in enumerate(range(0, count, longest)):
        to = min(count, at + longest)
        text = piece.text[ends[at] : ends[to]]
        yield Piece(f"{piece.name}#{i}", text, piece.ids[at:to], piece.behind[at:to])


def cut(name: str, text: Text, size: int | None) -> Iterator[tuple[str, bytes]]:
    """Yields a document in pieces of at most `size` bytes, name#0, name#1, ...; a shorter document
    is one piece under its own name. Pieces of a document without a name are 0, 1, ...
    """
    return _divided(name, text, size, lambda held: size or 0)


def blocks(name: str, text: Text) -> Iterator[tuple[str, bytes]]:
    """Yields a document in blocks of at most BLOCK bytes, named as by `cut`. A block ends with a
    line, else before a space, else with a character.
    """
    return _divided(name, text, BLOCK, _end_of_block)


def _end_of_block(held: bytearray) -> int:
    end = held.rfind(b"\n", 0, BLOCK) + 1 or held.rfind(b" ", 1, BLOCK)
    if end <= 0:
        end = BLOCK
    while held[end] & 0xC0 == 0x80:  # within a character
        end -= 1
    return end


def _divided(
    name: str, text: Text, most: int | None, end: Callable[[bytearray], int]
) -> Iterator[tuple[str, bytes]]:
    """Yields a document cut at `end` as long as more than `most` bytes are held."""
    held = bytearray()
    count = 0
    for block in [text] if isinstance(text, bytes) else text:
        held += block
        while most is not None and len(held) > most:
            to = end(held)
            yield _part(name, count), bytes(held[:to])
            del held[:to]
            count += 1
    if held or not count:
        yield _part(name, count) if count else name or "0", bytes(held)


def joined(texts: Iterable[Text], between: str) -> Iterator[bytes]:
    """Yields texts as the blocks of one, with `between` behind each."""
    for text in texts:
        yield from [text] if isinstance(text, bytes) else text
        yield between.encode()


def check_join(join: str | None) -> None:
    """Raises UserError for a backslash and a letter in place of the end of a line or a tab."""
    if join is not None and ("\\n" in join or "\\t" in join):
        problem = "a backslash and a letter, which a command line hands on as they are"
        remedy = f"""type data.corpus.join=$'"{join}"' for ends of lines or tabs"""
        raise UserError("data.corpus.join", join, problem, remedy)


def _part(name: str, number: int) -> str:
    return f"{name}#{number}" if name else str(number)
