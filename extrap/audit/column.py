"""A column of the audit: what is measured, how its value is written, and whether it speaks for the
scheme.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isinf, isnan
from typing import Any


@dataclass(frozen=True)
class Column:
    """name in the CSV; head in the terminal and the figure; says: the measurement in one line.

    written: value -> cell of at most nine characters. holds: value -> whether the scheme has the
    property, None where that is no question of yes and no. A value of nan means that there is
    nothing to measure.
    """

    name: str
    head: str
    says: str
    written: Callable[[Any], str]
    holds: Callable[[Any], bool | None] = lambda value: None

    def cell(self, value: Any) -> str:
        return "-" if missing(value) else self.written(value)

    def verdict(self, value: Any) -> bool | None:
        return None if missing(value) else self.holds(value)


def missing(value: Any) -> bool:
    return isinstance(value, float) and isnan(value)


def error(value: float) -> str:
    """An error: 0, 3e-07, .12, 4.1, 2e+05."""
    if isinf(value):
        return "inf"
    if value == 0 or not 1e-3 <= value < 1e4:
        return f"{value:.0e}" if value else "0"
    return f"{value:.2g}".lstrip("0") if value < 1 else f"{value:.3g}"


def yes(value: bool) -> str:
    return "yes" if value else "no"


def signed(value: float) -> str:
    return f"{value:+.2f}"


def percent(value: float) -> str:
    return f"{100 * value:+.1f} %"


def whole(value: int) -> str:
    return f"{value:,}"


def below(bound: float) -> Callable[[float], bool]:
    return lambda value: value <= bound
