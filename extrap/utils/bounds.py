"""Bounds of options that many signatures share: `trials: Count = 200`.

extrap.runs.hints checks them in configurations; a call from Python is not checked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from annotated_types import BaseMetadata, Ge, Gt, Interval, MinLen


@dataclass(frozen=True)
class Different(BaseMetadata):
    """No value of a list occurs twice."""


Count = Annotated[int, Ge(1)]
Fraction = Annotated[float, Interval(gt=0, le=1)]
Share = Annotated[float, Interval(ge=0, le=1)]
Depths = Annotated[Sequence[Share], Different()]
"""Places of a context, 0 the first and 1 the last."""
Multiples = Annotated[Sequence[Annotated[float, Gt(0)]], MinLen(1), Different()]
"""Evaluated lengths over the training length."""
