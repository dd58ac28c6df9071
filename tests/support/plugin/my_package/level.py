"""The tilt ends at the training length: what lies farther counts as if it lay there."""

from copy import deepcopy

from extrap import Extension
from my_package.tilt import Tilt


class Level(Extension):
    """reach: where the tilt ends, in training lengths."""

    def __init__(self, reach: float = 1.0):
        if reach <= 0:
            raise ValueError(f"reach={reach}: above 0")
        self.reach = reach

    def __call__(self, model):
        if not isinstance(model.scheme, Tilt):
            raise self.refuse(model.scheme, "it has no tilt that could end")
        other = deepcopy(model)
        other.scheme.reach = self.reach * model.scheme.shape.length
        return other
