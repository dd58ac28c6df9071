"""Errors that a person sees as one line instead of a traceback: mistakes, and disks that are full
or broken.
"""

import errno
import os
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches


class UserError(Exception):
    """A mistake in a command or in a file, in fields: `option=value: problem; remedy`.

    Args:
        option: the option, or the file, the study or the command that the mistake is in; with its
            value behind `=` where only both together are at hand.
        value: the value that was given; left out where there is none.
        problem: what is wrong with it, or what was expected.
        remedy: a command, a value or a step that mends it; a function is called when the line is
            printed, for remedies that take a moment to find.

    A single argument is a whole line, as a constructor that does not know the name of its option
    raises in a ValueError.
    """

    def __init__(
        self,
        option: object,
        value: object = ...,
        problem: object = "",
        remedy: str | Callable[[], str] = "",
    ):
        super().__init__(option, value, problem, remedy)
        place, said = str(option), str(problem)
        if value is ... and not said:
            place, said, remedy = _parted(place)
        if value is ... and (named := OPTION.match(place)):
            place, value = named[1], place[named.end() :]
        self.option, self.value, self.problem, self.remedy = place, value, said, remedy

    @property
    def why(self) -> str:
        """The line without a remedy that takes a moment to find."""
        return self._line("" if callable(self.remedy) else self.remedy)

    def __str__(self) -> str:
        return self._line(self.remedy() if callable(self.remedy) else self.remedy)

    def _line(self, remedy: str) -> str:
        place = self.option if self.value is ... else f"{self.option}={shown(self.value)}"
        line = ": ".join(part for part in (place, self.problem) if part)
        return f"{line}; {remedy}" if remedy else line


OPTION = re.compile(r"([\w.@/~+-]+)=")


def _parted(line: str) -> tuple[str, str, str]:
    """(option and value, problem, remedy) of a line."""
    place, colon, said = line.partition(": ")
    if not colon or "; " in place:
        place, said = "", line
    problem, _, remedy = said.partition("; ")
    return place, problem, remedy


class NotApplicable(UserError):
    """An extension that makes no sense on a scheme. A sweep skips the pair and lists it; a single
    job ends with the line.
    """


def choose(name: str, allowed: Iterable[str]) -> str:
    """Returns a remedy for an unknown name: `did you mean b? choose one of a, b, c`."""
    close = get_close_matches(name, known := sorted(allowed), n=1)
    return (f"did you mean {close[0]}? " if close else "") + f"choose one of {', '.join(known)}"


def shown(value: object) -> str:
    """A value as it is written on the command line: null, true and false."""
    return (
        "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    )


def printable(line: str) -> str:
    """Returns a line for a terminal, with unprintable characters escaped: names of files may hold
    characters that move the cursor. Words longer than any path are cut.
    """
    return LONG_WORD.sub(lambda word: f"{word[0][:SHOWN]}...", escaped(line))


def escaped(line: str) -> str:
    """Returns a whole line for a terminal, with unprintable characters escaped as in Python."""
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
    """Returns the line about a full, read-only, foreign or broken disk, or about a file in the way,
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
    """True if the working folder of this process still exists."""
    try:
        return os.path.isdir(os.getcwd())
    except FileNotFoundError:
        return False
