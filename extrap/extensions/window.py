"""Window: a query sees its nearest W tokens, all at trained distances.
https://kexue.fm/archives/9431.

visible iff n < W;   n = i - j
The baseline of every relative scheme, with W = L. If the first token collects idle attention, the
loss explodes once a window hides it.
"""

from extrap.extensions.base import SchemeExtension, with_parts
from extrap.model.scheme import Scheme, Size
from extrap.schemes.window import Window


class Windowed(SchemeExtension):
    """A window on a trained model: a query sees its nearest W tokens.

    Args:
        width: W in tokens, the query among them; null stands for L

    Refuses schemes that see no farther anyway.
    """

    def __init__(self, width: Size | None = None):
        self.width = width

    def extend(self, scheme: Scheme) -> Scheme:
        check_defined(scheme)
        return with_parts(scheme, Window(scheme.shape, self.width))


def check_defined(scheme: Scheme) -> None:
    """Raises ValueError if positions past L are undefined, where no mask helps."""
    if scheme.limit <= scheme.shape.length:
        raise ValueError(f"positions past {scheme.limit:g} are undefined in it, visible or not")
