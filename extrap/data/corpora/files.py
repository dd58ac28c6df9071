"""Local text: a file, a folder or a pattern."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from glob import glob
from itertools import takewhile
from pathlib import Path

from extrap.data.corpora.base import Source, cut
from extrap.data.corpora.reader import json, parquet, stamps, texts
from extrap.utils.errors import UserError
from extrap.utils.untrusted import check_size, is_packed

TABLES = {".jsonl": "json", ".ndjson": "json", ".json": "json", ".parquet": "parquet"}


@dataclass(frozen=True, kw_only=True)
class Files(Source):
    """Files of UTF-8 text, each a document; .json(l), .ndjson and .parquet give one per row, from
    `column`. All may end in .gz.

    path: a file, a folder (all files in it that are not hidden, at any depth) or a pattern with *,
    ? and **. links: whether files are read that a link in the folder leads to outside of it; a
    folder from somebody else could so name any file of yours. document_tokens: longer documents
    are cut into pieces of so many tokens (of bytes, whatever the tokenizer), and each piece goes to
    train or validation by itself. A single file thus has a validation split and enough documents to
    average over: one of 1.2 MB gives about 75 of them, as many as the evaluation asks for. 4096 is
    twice what evaluation at 16 x 64 tokens reads; raise it for longer lengths.
    """

    path: str
    column: str = "text"
    links: bool = False
    document_tokens: int = 4096
    validation: float = 0.25

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.document_tokens < 1:
            raise ValueError(f"document_tokens={self.document_tokens}: at least 1 is needed")

    @property
    def title(self) -> str:
        return Path(self.path).name or Path(self.path).resolve().name

    @property
    def option(self) -> str:
        return f"data.corpus.path={self.path}"

    @property
    def place(self) -> str:
        return os.path.abspath(os.path.expanduser(self.path))

    def documents(self) -> Iterator[tuple[str, bytes]]:
        root, paths = self._files()
        plain = [path for path in paths if _kind(path) == "text"]
        for path in plain:
            check_size(path, "data.corpus.path")
        for path, text in zip(plain, texts(plain), strict=True):
            yield from self._pieces(path.relative_to(root).as_posix(), text.encode())
        for path in (path for path in paths if _kind(path) != "text"):
            rows = json(path) if _kind(path) == "json" else enumerate(parquet(path), 1)
            for i, (number, row) in enumerate(rows):
                text = self._text(f"{path}:{number}", row)
                yield from self._pieces(f"{path.relative_to(root).as_posix()}#{i}", text)

    def state(self) -> list | None:
        return stamps(self._files()[1])

    def _pieces(self, name: str, text: bytes) -> Iterator[tuple[str, bytes]]:
        if text:
            yield from cut(name, text, self.document_tokens)

    def _text(self, place: str, row: object) -> bytes:
        """Returns the text of a record; a record that is a string is its column `text`."""
        columns = row if isinstance(row, dict) else {"text": row}
        if isinstance(text := columns.get(self.column), str):
            try:
                return text.encode()
            except UnicodeEncodeError:
                raise UserError(
                    "data.corpus.path",
                    place,
                    "the text holds half of a character (\\ud800 to \\udfff)",
                    "write the whole character",
                ) from None
        why = "no text of that name"
        if self.column in columns:
            why = "null is no text" if text is None else f"{text!s:.40} is no text"
        others = ", ".join(column for column, value in columns.items() if isinstance(value, str))
        raise UserError(
            "data.corpus.column",
            self.column,
            f"{why} in {place}",
            f"its columns of text: {others or 'none'}",
        )

    def _files(self) -> tuple[Path, list[Path]]:
        """Returns the folder that names are relative to, and the files that are not empty, sorted
        by name.
        """
        path = Path(os.path.expanduser(self.path))
        if (
            any(len(os.fsencode(part)) > 255 for part in path.parts)
            or len(os.fsencode(path)) > 4095
        ):
            raise UserError(
                "data.corpus.path",
                f"{self.path:.60}...",
                "the name is longer than a file system allows",
                "give a shorter name, or a pattern",
            )
        if path.is_file():
            root, found = path.parent, [path]
        elif path.is_dir():
            root, found = path, list(path.rglob("*"))
        else:
            found = [Path(p) for p in glob(str(path), recursive=True)]
            root = Path(*takewhile(lambda part: not set(part) & set("*?["), path.parts))
        names = {p.relative_to(root): p for p in found if p.is_file() and p.stat().st_size}
        named = {
            name.as_posix(): p
            for name, p in names.items()
            if not (path.is_dir() and any(part.startswith(".") for part in name.parts))
        }
        if not named:
            remedy = (
                "give an existing text file, a folder of text files or a pattern such as "
                "'folder/**/*.txt'"
            )
            raise UserError("data.corpus.path", self.path, _why(path, found), remedy)
        if not self.links and not path.is_file():
            _check_inside(root, named)
        once: dict[Path, Path] = {}  # a file that links give a second name is one document
        for name in sorted(named):
            once.setdefault(named[name].resolve(), named[name])
        return root, list(once.values())


def _why(path: Path, found: list[Path]) -> str:
    """Returns the reason why a path leads to no text."""
    if not path.exists():
        return "no such file or folder"
    if not path.is_file() and not path.is_dir():
        return "a pipe or a device"
    for other in found:
        if other.is_symlink() and other.is_dir():
            return f"only a link to a folder ({other.name}), which is not followed"
        if other.exists() and not other.is_file() and not other.is_dir():
            return f"only a pipe or a device ({other.name})"
    return "empty"


def _check_inside(root: Path, named: dict[str, Path]) -> None:
    """Raises UserError for a file that only a link leads to, out of the folder that was given."""
    inside = root.resolve()
    for name in sorted(named):
        if not (there := named[name].resolve()).is_relative_to(inside):
            raise UserError(
                "data.corpus.path",
                root,
                f"{name} is a link to {there}, outside the folder",
                "remove it, or set data.corpus.links=true to read it",
            )


def _kind(path: Path) -> str:
    """Returns text, json or parquet, by the end of a file's name."""
    suffix = Path(path.stem).suffix if is_packed(path) else path.suffix
    return TABLES.get(suffix.lower(), "text")
