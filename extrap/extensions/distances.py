"""What the methods that change distances share: on which schemes they make sense."""

from abc import abstractmethod

from extrap.extensions.base import SchemeExtension
from extrap.extensions.effect import check_acts, check_distances
from extrap.extensions.window import check_defined
from extrap.model.remapped import Remapped
from extrap.model.scheme import Scheme


class DistanceExtension(SchemeExtension):
    """Refuses schemes whose attention is no function of the distance in tokens, and those whose
    distances all stay as they are (a bias that is clipped below the width, say).
    """

    @abstractmethod
    def map(self, scheme: Scheme) -> Remapped: ...

    def extend(self, scheme: Scheme) -> Scheme:
        check_defined(scheme)
        check_distances(scheme)
        mapped = self.map(scheme)
        check_acts(scheme, mapped)
        return mapped


def width_of(
    width: int | None, default: int, most: int, name: str, what: str = "the training length"
) -> int:
    """The width in tokens within which distances stay; None stands for the default. Raises
    ValueError past `most`, which is `what`.
    """
    width = max(1, default) if width is None else width
    if not 1 <= width <= most:
        raise ValueError(f"{name}={width}: must lie between 1 and {what} {most}")
    return width
