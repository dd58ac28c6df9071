"""StreamingLLM and LM-Infinite: the first tokens stay visible beside a window of the last. arXiv
2309.17453, arXiv 2308.16137.

visible iff j < S or n < R;   n = i - j, S sinks, R recent tokens, C = S + R <= L

StreamingLLM counts distances in a cache of C places: n among the recent, C - 1 - j to a sink once
the cache is full. The parallel computation here equals a model that fills the cache token by token.
LM-Infinite takes min(n, L) for a sink. If attention does not depend on the distance in tokens
(absolute schemes, randomised positions, NoPE), the mask acts alone.
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
        recent: R, null stands for L - S

    Refuses more than L tokens together.
    """

    def __init__(self, sinks: Annotated[int, Ge(0)] = 4, recent: Count | None = None):
        self.sinks = sinks
        self.recent = recent

    @abstractmethod
    def map(self, scheme: Scheme, recent: int) -> Zoned:
        """Returns the scheme with the distances of sinks changed."""

    def extend(self, scheme: Scheme) -> Scheme:
        check_defined(scheme)
        L = scheme.shape.length
        recent = L - self.sinks if self.recent is None else self.recent
        if recent < 1 or self.sinks + recent > L:
            if self.recent is None:
                raise ValueError(f"sinks={self.sinks}: fewer than the {L} tokens of training")
            raise ValueError(
                f"recent={recent}: with sinks={self.sinks} more than the {L} tokens of training"
            )
        mask = SinksAndRecent(scheme.shape, self.sinks, recent)
        try:
            check_distances(scheme)
        except ValueError:
            return with_parts(scheme, mask)
        return with_parts(self.map(scheme, recent), mask)


class StreamingLLM(Streaming):
    """Distances counted in the cache."""

    def map(self, scheme: Scheme, recent: int) -> InCache:
        return InCache(scheme, self.sinks, recent)


class LMInfinite(Streaming):
    """Distances of sinks clamped at L; we know descriptions of the paper, not its text."""

    def map(self, scheme: Scheme, recent: int) -> Near:
        return constant(scheme, scheme.shape.length)
