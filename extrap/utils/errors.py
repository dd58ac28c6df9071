"""The one exception that is shown to people as a line instead of a traceback."""

from collections.abc import Callable


class UserError(Exception):
    """A mistake in what was asked for: `option=value: what is wrong; what is allowed and what to do`."""


class NotApplicable(UserError):
    """An extension that makes no sense on a scheme. A sweep skips such a pair and lists it; asked for alone it is a mistake.

    why names both; instead finds out what works, which takes a moment, when the whole line is asked for.
    """

    def __init__(self, why: str, instead: Callable[[], str] | None = None):
        super().__init__(why)
        self.why, self.instead = why, instead

    def __str__(self) -> str:
        return self.why if self.instead is None else f"{self.why}; {self.instead()}"


def printable(line: str) -> str:
    """A line for a terminal: names of files may hold characters that would move the cursor, or none at all that can be written."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
