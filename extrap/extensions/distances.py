"""Methods that change distances: the schemes on which they make sense."""

from abc import abstractmethod

from extrap.extensions.base import SchemeExtension
from extrap.extensions.probe import check_distances
from extrap.extensions.window import check_defined
from extrap.model.distance_maps import Zoned
from extrap.model.scheme import Scheme


class DistanceExtension(SchemeExtension):
    """A method on schemes whose attention depends on the distance in tokens."""

    @abstractmethod
    def map(self, scheme: Scheme) -> Zoned: ...

    def extend(self, scheme: Scheme) -> Scheme:
        check_defined(scheme)
        check_distances(scheme)
        return self.map(scheme)


def width_of(
    width: int | None, default: int, most: int, name: str, what: str = "the training length"
) -> int:
    """Returns a width of 1 to `most`, which `what` names; None stands for the default."""
    width = max(1, default) if width is None else width
    if not 1 <= width <= most:
        raise ValueError(f"{name}={width}: must lie between 1 and {what} {most}")
    return width
