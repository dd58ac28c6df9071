"""What is shown to people as a line instead of a traceback: mistakes, and disks that take or give
nothing.
"""

import errno
import os
import re
from collections.abc import Callable


class UserError(Exception):
    """A mistake in what was asked for: `option=value: what is wrong; what is allowed and what to
    do`.
    """


class NotApplicable(UserError):
    """An extension that makes no sense on a scheme. A sweep skips such a pair and lists it; asked
    for alone it is a mistake.

    why names both; instead finds out what works, which takes a moment, when the whole line is asked
    for.
    """

    def __init__(self, why: str, instead: Callable[[], str] | None = None):
        super().__init__(why)
        self.why, self.instead = why, instead

    def __str__(self) -> str:
        return self.why if self.instead is None else f"{self.why}; {self.instead()}"


def printable(line: str) -> str:
    """A line for a terminal: names of files may hold characters that would move the cursor, or none
    at all that can be written. A word longer than any path of a person's is cut.
    """
    return LONG_WORD.sub(lambda word: f"{word[0][:SHOWN]}...", escaped(line))


def escaped(line: str) -> str:
    """A line for a terminal, whole: what cannot be printed is written as Python would."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


SHOWN = 60
"""Characters that are shown of a long word."""

LONG_WORD = re.compile(r"\S{1000,}")


FAULTS = {
    errno.ENOSPC: "the disk is full; make room, the same command then goes on where it stopped",
    errno.EDQUOT: (
        "the disk quota is used up; make room, the same command then goes on where it stopped"
    ),
    errno.EFBIG: (
        "the file would be larger than is allowed here (ulimit -f); raise the limit, the same "
        "command then goes on"
    ),
    errno.EROFS: "the file system is read-only; work in a folder that can be written to",
    errno.EACCES: "no permission; work in a folder that is yours",
    errno.EPERM: "not permitted; work in a folder that is yours",
    errno.ENOTDIR: "a file where a folder should be; move it away",
    errno.EEXIST: "a file where a folder should be; move it away",
    errno.EISDIR: "a folder where a file should be; move it away",
    errno.ENAMETOOLONG: "longer than names of files may be; give a shorter one",
    errno.ELOOP: "a link, or links in a ring, where a file should be; remove it",
    errno.ENXIO: "a pipe or a device where a file should be; move it away",
    errno.EMFILE: "too many files are open (ulimit -n); raise the limit",
    errno.EIO: (
        "the disk fails; nothing half-written is kept, the same command goes on where it stopped"
    ),
}


GONE = "the folder that you work in has been removed; go into one that is there"


def disk_fault(error: BaseException) -> str | None:
    """The line about a full, read-only, foreign or broken disk, or about what lies in the way,
    naming the file; None for every other error.
    """
    if not isinstance(error, OSError):
        return None
    if error.errno == errno.ENOENT and not _here():
        return GONE
    if error.errno not in FAULTS:
        return None
    return f"{error.filename or 'a temporary file, or what is printed'}: {FAULTS[error.errno]}"


def _here() -> bool:
    """Whether the folder that this process works in is still there."""
    try:
        return os.path.isdir(os.getcwd())
    except FileNotFoundError:
        return False
