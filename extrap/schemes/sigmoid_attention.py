"""Sigmoid attention: each key is weighed by itself, none competes with another. arXiv 2409.04431.

a_ij = sigmoid(s_ij - ln n)
The offset makes a row of n keys of logit 0 sum to about 1 at first, as under a softmax.
"""

from math import log
from typing import Literal

from torch import Tensor

from extrap.model.scheme import Scheme, Shape, Where


class SigmoidAttention(Scheme):
    """count: n is the training length (`trained`) as in the paper, or the number of keys that the
    query sees (`visible`), so that sums stay level in longer texts.

    Parameters: none.

    Kind: modifier
    Used by: -
    Past L: defined; sums of weights grow with the text unless count=visible
    Source: arXiv 2409.04431
    """

    def __init__(self, shape: Shape, count: Literal["trained", "visible"] = "trained"):
        super().__init__(shape)
        self.count = count

    def normalise(self, s: Tensor, at: Where) -> Tensor:
        if self.count == "trained":
            return (s - log(self.shape.length)).sigmoid()
        return (s - at.count.to(s.dtype).log()[:, None]).sigmoid()
