"""Window attention: a query sees its nearest W tokens, itself among them.
https://kexue.fm/archives/9431.

visible iff 0 <= i - j < W, in tokens, not in coordinates.
"""

from torch import Tensor

from extrap.model.scheme import Scheme, Shape, Size, Where
from extrap.utils.bounds import Fraction


class Nearest(Scheme):
    """A mask of the nearest `width` tokens."""

    width: int

    def sees(self, at: Where) -> Tensor:
        return at.back < self.width


class Window(Nearest):
    """Window attention: a query sees its nearest W tokens, itself among them.

    Args:
        width: W in tokens; null stands for L, which changes nothing in training and hides all
            longer distances past it

    Kind: modifier
    Used by: Mistral, Gemma, gpt-oss
    Past L: defined; blind past W per layer
    """

    def __init__(self, shape: Shape, width: Size | None = None):
        super().__init__(shape)
        self.width = shape.length if width is None else width


class ReachWindow(Nearest):
    """A window by which all layers but the last reach alpha L tokens together.

    Args:
        alpha: above 0 and at most 0.75; (W - 1)(layers - 1) + 1 <= alpha L

    HWFA has this window and RoPE in those layers, and full attention without positions in the last,
    https://kexue.fm/archives/9603. Raises ValueError for fewer than 2 layers and
    unless 0 < alpha <= 0.75 leaves a window of 1 or more.

    Kind: modifier
    Used by: HWFA
    Past L: defined; blind past W per layer
    Source: https://kexue.fm/archives/9603
    """

    def __init__(self, shape: Shape, alpha: float = 0.75):
        super().__init__(shape)
        if shape.layers < 2:
            raise ValueError(
                f"layers={shape.layers}: a window in all layers but the last needs at least 2"
            )
        self.width = int((alpha * shape.length - 1 + 1e-9) // (shape.layers - 1)) + 1
        if not 0 < alpha <= 0.75 or self.width < 1:
            raise ValueError(
                f"alpha={alpha}: lies between 0 and 0.75, such that alpha L is at least one token"
            )


class ShareWindow(Nearest):
    """A window of a share of the training length: one layout of layers for every L.

    Args:
        share: W = max(1, round(share L))

    Kind: modifier
    Used by: RNoPE-SWA, Gemma 3, Cohere 2, EXAONE 4 (in 3 to 5 of 4 to 6 layers)
    Past L: defined; blind past W per layer
    Source: arXiv 2501.18795
    """

    def __init__(self, shape: Shape, share: Fraction = 0.25):
        super().__init__(shape)
        self.width = max(1, round(share * shape.length))
