"""Sigmoid attention: every key has its weight, without competition. arXiv 2409.04431.

a_ij = sigmoid(s_ij - ln n)
With the offset a row of n keys of logit 0 sums to about 1, as under a softmax.
"""

from math import log
from typing import Literal

from torch import Tensor

from extrap.model.scheme import Scheme, Shape, Where


class SigmoidAttention(Scheme):
    """Sigmoid attention: every key has its weight, without competition.

    Args:
        count: n is the training length (`trained`) as in the paper, or the number of visible keys
            (`visible`), which keeps sums level in longer texts

    Kind: modifier
    Past L: defined; sums of weights grow with the text unless count=visible
    """

    def __init__(self, shape: Shape, count: Literal["trained", "visible"] = "trained"):
        super().__init__(shape)
        self.count = count

    def normalise(self, s: Tensor, at: Where) -> Tensor:
        if self.count == "trained":
            return (s - log(self.shape.length)).sigmoid()
        log_n = at.count.to(s.dtype).log()
        return (s - log_n[:, None]).sigmoid()
