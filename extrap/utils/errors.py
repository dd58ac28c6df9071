"""Errors that a person sees as one line instead of a traceback: mistakes, and faults of a disk."""

import errno
import os
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches


class UserError(Exception):
    """A mistake in a command or in a file, in fields: `option=value: problem; remedy`.

    Args:
        option: the option, file, study or command with the mistake, or `option=value`
        value: the given value
        problem: what is wrong, or what was expected
        remedy: a command, a value or a step; a function, called when the line is printed, if the
            remedy takes a moment to find

    A single argument is a whole line, as a constructor raises in a ValueError.
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
            place, colon, said = place.partition(": ")
            if not colon or "; " in place:
                place, said = "", str(option)
            said, _, remedy = said.partition("; ")
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
        words = f"{self.problem}; {remedy}" if remedy else self.problem
        return ": ".join(part for part in (place, LISTED.sub(r"'\g<0>'", words)) if part)


OPTION = re.compile(r"([\w.@/~+-]+)=")
LISTED = re.compile(r"(?<!['\w.@/~+-])[\w.@/~+-]+=\[[^]\s'\"]*\](?!')")
"""A word with a list, which some shells take for a pattern of files."""


class NotApplicable(UserError):
    """An extension that makes no sense on a scheme: a sweep skips the pair and lists it."""


class OutOfRange(ValueError):
    """A coordinate past the finite table of a scheme, where the scheme is undefined."""


def choose(name: str, allowed: Iterable[str]) -> str:
    """Returns a remedy for an unknown name: `did you mean b? choose one of a, b, c`."""
    close = get_close_matches(name, known := sorted(allowed), n=3)
    close.sort(key=lambda one: sorted(one) != sorted(name))  # letters in another order first
    return (f"did you mean {close[0]}? " if close else "") + f"choose one of {', '.join(known)}"


def one_edit_apart(a: str, b: str) -> bool:
    """True if one letter more, less, changed or moved makes b of a."""

    def shortened(word: str) -> set[str]:
        return {word, *(word[:n] + word[n + 1 :] for n in range(len(word)))}

    return a != b and not shortened(a).isdisjoint(shortened(b))


def first_line(error: BaseException) -> str:
    """Returns the first line of an error's text, without one the name of its class."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def shown(value: object) -> str:
    """Returns a value as on the command line: null, true and false."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def printable(line: str) -> str:
    """Returns a line for a terminal, with unprintable characters escaped: names of files may hold
    characters that move the cursor. Words longer than any path are cut.
    """
    return LONG_WORD.sub(lambda word: f"{word[0][:SHOWN]}...", escaped(line))


def escaped(line: str) -> str:
    """Returns a whole line for a terminal, with unprintable characters escaped as in Python."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


SHOWN = 60
"""Characters that are shown of a long word."""

LONG_WORD = re.compile(r"\S{1000,}")


AGAIN = "the same command then goes on where it stopped"
MOVE = "should be; move it away"
OWN = "work in a folder that is yours"
FAULTS = {
    errno.ENOSPC: f"the disk is full; make room, {AGAIN}",
    errno.EDQUOT: f"the disk quota is used up; make room, {AGAIN}",
    errno.EFBIG: f"larger than ulimit -f allows; raise the limit, {AGAIN}",
    errno.EROFS: f"the file system is read-only; {OWN}",
    errno.EACCES: f"no permission; {OWN}",
    errno.EPERM: f"not permitted; {OWN}",
    errno.ENOTDIR: f"a file where a folder {MOVE}",
    errno.EEXIST: f"a file where a folder {MOVE}",
    errno.EISDIR: f"a folder where a file {MOVE}",
    errno.ENAMETOOLONG: "longer than names of files may be; give a shorter one",
    errno.ELOOP: "a link, or links in a ring, where a file should be; remove it",
    errno.ENXIO: f"a pipe or a device where a file {MOVE}",
    errno.EMFILE: "too many files are open (ulimit -n); raise the limit",
    errno.ESTALE: f"the network disk has lost it; {AGAIN} once the disk is back",
    errno.ETIMEDOUT: f"the network disk does not answer; {AGAIN} once the disk is back",
    errno.ENOLCK: "the disk gives no lock here; start its lock service on this node, or give all "
    f"processes EXTRAP_LEASES=1 if no node has one, {AGAIN}",
    errno.EBUSY: f"the disk is busy with it; wait a moment, {AGAIN}",
    errno.EXDEV: "another disk is mounted inside the folder; keep a folder on one disk",
    errno.EIO: f"the disk fails; nothing half-written is kept, {AGAIN}",
}
GONE = "the folder that you work in has been removed; go into one that is there"


def disk_fault(error: BaseException) -> str | None:
    """Returns the line about a fault of the disk or a file in the way; else None."""
    if not isinstance(error, OSError):
        return None
    if error.errno == errno.ENOENT and not here():
        return GONE
    if error.errno not in FAULTS:
        return None
    return f"{error.filename or 'a temporary file, or what is printed'}: {FAULTS[error.errno]}"


def here() -> bool:
    """True if the working folder of this process still exists."""
    try:
        return os.path.isdir(os.getcwd())
    except FileNotFoundError:
        return False
