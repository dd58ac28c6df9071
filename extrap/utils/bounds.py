"""Bounds of options that many signatures share: `trials: Count = 200`.

They are read where a configuration becomes an object (extrap.runs.hints), so that no constructor
repeats them. A constructor called from Python takes what it is given.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from annotated_types import BaseMetadata, Ge, Gt, Interval, MinLen


@dataclass(frozen=True)
class Different(BaseMetadata):
    """No value of a list stands in it twice."""


Count = Annotated[int, Ge(1)]
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
Multiples = Annotated[Sequence[Annotated[float, Gt(0)]], MinLen(1), Different()]
"""Evaluated lengths over the training length."""
