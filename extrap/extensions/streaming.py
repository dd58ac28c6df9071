"""StreamingLLM and LM-Infinite: the first tokens stay visible, and a window of the last. arXiv
2309.17453, arXiv 2308.16137.

visible iff j < S or n < R;   n = i - j, S sinks, R recent tokens

StreamingLLM counts distances in a cache of C = S + R <= L places: n among the recent, C - 1 - j to
a sink once the cache is full. The parallel computation here equals a model that fills the cache
token by token. LM-Infinite has a window of R <= L tokens whatever S, and takes min(n, L) for a
sink. If attention does not depend on the distance in tokens (absolute schemes, randomised
positions, NoPE), the mask acts alone.
"""

from abc import abstractmethod
from typing import Annotated

from annotated_types import Ge
from torch import Tensor

from extrap.extensions.base import SchemeExtension, with_parts
from extrap.extensions.probe import check_distances
from extrap.extensions.window import check_defined
from extrap.model.distance_maps import InCache, Near, Zoned, constant
from extrap.model.scheme import Scheme, Shape, Where
from extrap.utils.bounds import Count


class SinksAndRecent(Scheme):
    """The mask of both methods.

    Kind: modifier
    Past L: defined; blind between the sinks and the window
    """

    def __init__(self, shape: Shape, sinks: int, recent: int):
        super().__init__(shape)
        self.sinks = sinks
        self.recent = recent

    def sees(self, at: Where) -> Tensor:
        return (at.j < self.sinks) | (at.back < self.recent)


class Streaming(SchemeExtension):
    """A mask of the first S tokens and a window of the last R.

    Args:
        sinks: S, first tokens (BOS among them) that stay visible
        recent: R
    """

    def __init__(self, sinks: Annotated[int, Ge(0)], recent: Count | None):
        self.sinks = sinks
        self.recent = recent

    @abstractmethod
    def window(self, L: int) -> int:
        """Returns R in a model trained at L tokens. Raises ValueError for other options."""

    @abstractmethod
    def map(self, scheme: Scheme, recent: int) -> Zoned:
        """Returns the scheme with the distances of sinks changed."""

    def extend(self, scheme: Scheme) -> Scheme:
        check_defined(scheme)
        recent = self.window(scheme.shape.length)
        mask = SinksAndRecent(scheme.shape, self.sinks, recent)
        try:
            check_distances(scheme)
        except ValueError:
            return with_parts(scheme, mask)
        return with_parts(self.map(scheme, recent), mask)


class StreamingLLM(Streaming):
    """StreamingLLM: the first tokens and the last, at distances counted in the cache.

    Args:
        sinks: S, first tokens (BOS among them) that stay visible
        recent: R, null stands for L - S

    Raises an error if sinks and recent together exceed L.
    """

    def __init__(self, sinks: Annotated[int, Ge(0)] = 4, recent: Count | None = None):
        super().__init__(sinks, recent)

    def window(self, L: int) -> int:
        recent = L - self.sinks if self.recent is None else self.recent
        if 1 <= recent <= L - self.sinks:
            return recent
        if self.recent is None:
            raise ValueError(f"sinks={self.sinks}: fewer than the {L} tokens of training")
        both = f"with sinks={self.sinks} more than the {L} tokens of training"
        raise ValueError(f"recent={recent}: {both}")

    def map(self, scheme: Scheme, recent: int) -> InCache:
        return InCache(scheme, self.sinks, recent)


class LMInfinite(Streaming):
    """LM-Infinite: the first tokens and the last L, distances clamped at L.

    Args:
        sinks: S, first tokens (BOS among them) that stay visible, 10 to 100 in the authors' code
        recent: R, null stands for L

    Raises an error if recent exceeds L. We know the authors' code, not the text of the paper.
    Source: arXiv 2308.16137; github.com/Glaciohound/LM-Infinite
    """

    def __init__(self, sinks: Annotated[int, Ge(0)] = 10, recent: Count | None = None):
        super().__init__(sinks, recent)

    def window(self, L: int) -> int:
        recent = L if self.recent is None else self.recent
        if recent > L:
            raise ValueError(f"recent={recent}: more than the {L} tokens of training")
        return recent

    def map(self, scheme: Scheme, recent: int) -> Near:
        return constant(scheme, scheme.shape.length)
