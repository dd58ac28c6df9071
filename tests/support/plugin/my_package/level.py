"""The tilt ends at the training length: a key farther away counts as if it were there."""

from extrap import SchemeExtension
from my_package.tilt import Tilt


class Level(SchemeExtension):
    """A tilt that ends at a number of training lengths.

    Args:
        reach: where the tilt ends, in training lengths, above 0
    """

    def __init__(self, reach: float = 1.0):
        if reach <= 0:
            raise ValueError(f"reach={reach}: above 0")
        self.reach = reach

    def extend(self, scheme):
        if not isinstance(scheme, Tilt):
            raise ValueError("it has no tilt that could end")
        scheme.reach = self.reach * scheme.shape.length
        return scheme
