"""Bounds of options that many signatures share: `trials: Count = 200`.

extrap.utils.hints checks them in configurations; the functions of extrap.api check theirs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar

from annotated_types import BaseMetadata, Ge, Gt, Interval, MinLen

from extrap.utils.errors import UserError


@dataclass(frozen=True)
class Different(BaseMetadata):
    """No value of a list occurs twice."""


T = TypeVar("T")
OneOrMore = Annotated[Sequence[T], MinLen(1), Different()]
"""A list of different values."""
Count = Annotated[int, Ge(1)]
Several = Annotated[int, Ge(2)]
Positive = Annotated[float, Gt(0)]
NotNegative = Annotated[float, Ge(0)]
Factor = Annotated[float, Interval(ge=1, le=1_000_000)]
"""Of lengths; past it numbers overflow."""
Base = Annotated[float, Gt(1)]
"""Of a grid of frequencies, in which later pairs turn slower."""
Fraction = Annotated[float, Interval(gt=0, le=1)]
Share = Annotated[float, Interval(ge=0, le=1)]
Depths = Annotated[Sequence[Share], Different()]
"""Places of a context, 0 the first and 1 the last."""
Multiples = OneOrMore[Annotated[float, Gt(0)]]
"""Evaluated lengths over the training length."""


def at_most(option: str, value: float, most: float, why: str) -> None:
    """Raises UserError for a value above a bound; why: the options that set the bound."""
    if value > most:
        raise UserError(option, value, f"expected at most {most}, {why}", "give a smaller number")


def at_least(option: str, value: float, least: float, why: str) -> None:
    """Raises UserError for a value below a bound; why: the options that set the bound."""
    if value < least:
        raise UserError(option, value, f"expected at least {least}, {why}", "give a larger number")
