"""Positions of a text at test, in a model trained on randomised positions. arXiv 2305.16843.

The scheme has a mode of its own; all modes serve the same weights. `stride` keeps the positions of
a prefix as the text grows.
"""

from typing import Literal

from extrap.extensions.base import SchemeExtension, replace_parts
from extrap.model.parts import parts
from extrap.model.scheme import Scheme
from extrap.schemes.randomised import RandomisedPositions


class RandomisedTest(SchemeExtension):
    """Positions of a text at test, for a model trained on randomised positions.

    Args:
        test: even, stride or sampled
        longest: of stride, in tokens; null stands for L_max / 2, as in schemes/randomised.py

    Works with schemes trained on randomised positions.
    """

    layers = "all"

    def __init__(self, test: Literal["even", "stride", "sampled"], longest: int | None = None):
        if longest is not None and test != "stride":
            raise ValueError(f"longest={longest}: says how far a stride reaches, and test={test}")
        self.test: Literal["even", "stride", "sampled"] = test
        self.longest = longest

    def extend(self, scheme: Scheme) -> Scheme:
        if not any(isinstance(part, RandomisedPositions) for part in parts(scheme)):
            raise ValueError("it was not trained on randomised positions")
        return replace_parts(
            scheme,
            lambda part: isinstance(part, RandomisedPositions),
            lambda part: RandomisedPositions(part.shape, part.maximum, self.test, self.longest),
        )
