"""A column of the audit: the measurement, the form of its value, and the verdict."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from extrap.audit.subject import Subject


@dataclass(frozen=True)
class Column:
    """A measurement of a scheme; a value of nan stands for nothing to measure.

    name      in the CSV
    head      in the terminal and the figure
    says      the measurement in one line
    measure   subject -> value
    written   value -> cell of at most nine characters
    holds     value -> True if the scheme has the property; None without a yes or no
    """

    name: str
    head: str
    says: str
    measure: Callable[[Subject], Any]
    written: Callable[[Any], str] = str
    holds: Callable[[Any], bool | None] = lambda value: None

    def cell(self, value: Any) -> str:
        return "-" if value != value else self.written(value)

    def verdict(self, value: Any) -> bool | None:
        return None if value != value else self.holds(value)


def error(value: float) -> str:
    """An error: 0, 3e-07, .12, 4.1, 2e+05, inf."""
    if value == 0 or not 1e-3 <= value < 1e4:
        return f"{value:.0e}" if value else "0"
    if value < 1:
        return f"{value:.2g}".lstrip("0")
    return f"{value:.3g}"


def below(bound: float) -> Callable[[float], bool]:
    return lambda value: value <= bound
