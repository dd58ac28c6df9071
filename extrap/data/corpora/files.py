"""Local text: a file, a folder or a pattern."""

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from glob import iglob
from itertools import islice, pairwise, takewhile
from pathlib import Path
from typing import ClassVar

from extrap.data.corpora.base import Portion, Source
from extrap.data.corpora.pieces import BLOCK, Text, check_join, joined
from extrap.data.corpora.reader import kind, records, saved, stamps, text, text_blocks
from extrap.utils.bounded import Exceeded, bounded
from extrap.utils.bounds import Count
from extrap.utils.errors import UserError

MOST = 500_000
"""Files and folders that a path may lead to: a pattern such as /proc/** never ends."""

SECONDS = 5.0
MEMORY = 2**31
"""Processor time for `begins` in a text, and a second more for every MiB; bytes of its memory."""


@dataclass(frozen=True, kw_only=True)
class Files(Source):
    """Files of UTF-8 text, each a document; .json(l), .ndjson, .parquet and .arrow give one per
    row, except rows with null. All but the last may end in .gz.

    Args:
        column: the column with the text, of files that have rows
        path: a file, a folder (all files in it that are not hidden, at any depth; also one of
            `save_to_disk` of datasets) or a pattern with *, ? and **
        links: whether files are read that a link in the folder leads to outside of it; a folder
            from somebody else could so name any file of yours
        document_tokens: longer documents are cut into pieces of so many tokens of the vocabulary,
            and each piece goes to train or validation by itself. A single file thus has a
            validation split and enough documents to average over: one of 1.2 MB gives about 75 of
            them, as many as the evaluation asks for. 4096 is twice what evaluation at 16 x 64
            tokens reads; raise it for longer lengths
        begins: a regular expression; each line of a text that it matches begins a document of its
            own, named by that line ('^ = [^=]' for the articles of WikiText). Such a file is held
            in memory. For text without rows, and without join
        join: for rows or files that are paragraphs of one long text, what stands between them;
            null where each is a document
    """

    later: ClassVar[tuple[str, ...]] = ("join",)

    path: str
    column: str = "text"
    links: bool = False
    document_tokens: Count = 4096
    begins: str | None = None
    join: str | None = None
    validation: Portion = 0.25

    def __post_init__(self) -> None:
        try:
            with bounded(SECONDS, MEMORY):
                re.compile(self.begins or "")
        except (re.error, Exceeded, RecursionError, OverflowError) as error:
            raise ValueError(f"begins={self.begins}: no regular expression: {error}") from None
        check_join(self.join)
        if self.begins and self.join is not None:
            problem = "data.corpus.join makes one text of the documents that it begins"
            raise UserError("data.corpus.begins", self.begins, problem, "leave one of the two out")

    @property
    def title(self) -> str:
        return Path(self.path).name or Path(self.path).resolve().name

    @property
    def option(self) -> str:
        return f"data.corpus.path={self.path}"

    @property
    def place(self) -> str:
        return os.path.abspath(os.path.expanduser(self.path))

    @property
    def longest(self) -> int:
        return self.document_tokens

    @property
    def text_size(self) -> int:
        texts = [path for path in self._files()[1] if kind(path) == "text"]
        return sum(path.stat().st_size for path in texts)

    def documents(self) -> Iterator[tuple[str, Text]]:
        found = ((name, text) for name, text in self._each() if text)
        if self.join is None:
            return found
        return iter([("", joined((text for _, text in found), self.join))])

    def _each(self) -> Iterator[tuple[str, Text]]:
        root, paths = self._files()
        for path in sorted(paths, key=lambda path: kind(path) != "text"):
            name = path.relative_to(root).as_posix()
            if kind(path) != "text":
                for i, (place, row) in enumerate(records(path)):
                    yield f"{name}#{i}", self._text(place, row)
            elif self.begins or path.stat().st_size <= BLOCK:
                yield from self._begun(name, text(path))
            else:
                yield name, text_blocks(path)

    def state(self) -> list | None:
        return stamps(self._files()[1])

    def _begun(self, name: str, whole: str) -> Iterator[tuple[str, bytes]]:
        """Yields the documents of one text; what stands before the first has the file's name. A
        line that begins most documents separates them and names none: they are numbered, as one
        name has one split. Other documents of one name, such as articles of one title, share it.
        """
        starts = self._starts(name, whole)
        found = [*pairwise(sorted({0, *starts, len(whole)}))]
        lines = {a: whole[a:b].partition("\n")[0].strip() for a, b in found if a in starts}
        separators = {line for line, n in Counter(lines.values()).items() if 2 * n > len(lines)}
        number = 0
        for a, b in found:
            own = f"{name}#{lines[a]}" if a in lines else name
            if lines.get(a) in separators:
                own += f"#{number}" if number else ""
                number += 1
            yield own, whole[a:b].encode()

    def _starts(self, name: str, whole: str) -> set[int]:
        """Returns where lines begin that `begins` matches. Raises UserError if that takes too
        long.
        """
        if not self.begins:
            return set()
        try:
            with bounded(SECONDS + len(whole) / 2**20, MEMORY):
                found = list(re.finditer(f"(?m){self.begins}", whole))
            empty = (len(match[0]) - len(match[0].lstrip("\n")) for match in found)
            starts = [match.start() + n for match, n in zip(found, empty, strict=True)]
            return {whole.rfind("\n", 0, at) + 1 for at in starts}
        except Exceeded as error:
            problem = f"{error} on {name}"
            remedy = "give a simpler pattern"
            raise UserError("data.corpus.begins", self.begins, problem, remedy) from None

    def _text(self, place: str, row: object) -> bytes:
        """Returns the text of a record, empty for null; a record that is a string is its column
        `text`.
        """
        columns = row if isinstance(row, dict) else {"text": row}
        if self.column in columns and columns[self.column] is None:
            return b""
        if isinstance(found := columns.get(self.column), str):
            try:
                return found.encode()
            except UnicodeEncodeError:
                problem = "the text holds half of a character (\\ud800 to \\udfff)"
                remedy = "write the whole character"
                raise UserError("data.corpus.path", place, problem, remedy) from None
        why = "no text of that name"
        if self.column in columns:
            why = f"{found!s:.40} is no text"
        others = ", ".join(column for column, value in columns.items() if isinstance(value, str))
        remedy = f"its columns of text: {others or 'none'}"
        raise UserError("data.corpus.column", self.column, f"{why} in {place}", remedy)

    def _files(self) -> tuple[Path, list[Path]]:
        """Returns the folder that names start from, and the files that are not empty, by name."""
        path = Path(os.path.expanduser(self.path))
        longest = max(map(len, path.parts), default=0)
        if longest > 255 or len(str(path)) > 4095:
            problem, remedy = "the name is longer than a file system allows", "give a shorter one"
            raise UserError("data.corpus.path", f"{self.path:.60}...", problem, remedy)
        if path.is_file():
            root = path.parent
            found = [path]
        elif path.is_dir():
            root = path
            found = list(islice(path.rglob("*"), MOST + 1))
        else:
            matching = islice(iglob(str(path), recursive=True), MOST + 1)
            found = list(map(Path, matching))
            fixed = takewhile(lambda part: not set(part) & set("*?["), path.parts)
            root = Path(*fixed)
        if len(found) > MOST:
            problem = f"leads to more than {MOST:,} files and folders"
            remedy = "name fewer"
            raise UserError("data.corpus.path", self.path, problem, remedy)
        named = dict[str, Path]()
        for file in found:
            name = file.relative_to(root)
            hidden = path.is_dir() and _hidden(name)
            if file.is_file() and file.stat().st_size and not hidden:
                named[name.as_posix()] = file
        if not named:
            remedy = (
                "give an existing text file, a folder of text files or a pattern such as "
                "'folder/**/*.txt'"
            )
            raise UserError("data.corpus.path", self.path, _why(path), remedy)
        inside = root.resolve()
        once = dict[Path, Path]()
        for name in sorted(named):
            there = named[name].resolve()
            if not (self.links or path.is_file() or there.is_relative_to(inside)):
                problem = f"{name} is a link to {there}, outside the folder"
                remedy = "remove it, or set data.corpus.links=true to read it"
                raise UserError("data.corpus.path", root, problem, remedy)
            once.setdefault(there, named[name])  # a file that links name twice is one document
        paths = list(once.values())
        if not path.is_file():
            paths = saved(paths)
        if self.begins:
            self._check_begins(paths)
        return root, paths

    def _check_begins(self, paths: list[Path]) -> None:
        """Raises UserError for a file with rows, each of which is a document."""
        for path in paths:
            if kind(path) != "text":
                problem = f"begins documents in a text, and {path} has rows"
                remedy = "leave it out, or choose files with a pattern such as 'folder/**/*.txt'"
                raise UserError("data.corpus.begins", self.begins, problem, remedy)


def _hidden(name: Path) -> bool:
    return any(part.startswith(".") for part in name.parts)


def _why(path: Path) -> str:
    """Returns the reason why a path leads to no text."""
    if not path.exists():
        return "no such file or folder"
    if path.is_dir():
        return "empty: hidden files, links to folders, pipes and devices are not read"
    return "empty" if path.is_file() else "a pipe or a device"
