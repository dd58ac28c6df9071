"""URPE, universal relative position: weights multiplied by a Toeplitz matrix after the softmax.
arXiv 2205.13401.

o_i = sum_j A_ij c_{i-j} v_j, not normalised again. Rows of a softmax sum to one whatever the bias,
so that equal values in every token hide positions; these rows do not. It stacks on any bias by
distance (the paper: T5's). c = 1 changes nothing.
"""

import torch
from torch import Tensor, nn

from extrap.model.functional import table_limit
from extrap.model.scheme import Scheme, Shape, Size, Where


class URPE(Scheme):
    """A Toeplitz matrix of learned factors that multiplies the weights after the softmax.

    Args:
        span: number of distances with a factor of their own; null stands for L / 2 (the authors: L,
            or T5's buckets)

    Parameters: span x H, shared by all layers, 1 at first. Raises ValueError unless 2 <= span <= L.

    Kind: relative
    Past L: clipped; all far keys share the last factor
    """

    def __init__(self, shape: Shape, span: Size | None = None):
        super().__init__(shape)
        L = shape.length
        self.span = table_limit("span", span, L // 2, 2, L)
        self.c = nn.Parameter(torch.ones(self.span, shape.heads))

    def mix(self, a: Tensor, v: Tensor, at: Where) -> Tensor:
        n = at.steps.clamp(max=self.span - 1)
        of_distance = self.c.T.to(a.dtype)
        c = of_distance[:, n]  # (H, Tq, Tk)
        return (a * c) @ v
