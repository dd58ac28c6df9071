"""log-n scaling: the logits of query i grow with the logarithm of its number of keys.
https://kexue.fm/archives/8823.

c_i = max(ln(n_i) / ln(L), floor), n_i visible keys of query i (at most W under a window)

Trained from step 0; c = 1 at the last training row. In row 0 ln 1 = 0: without the floor, its key
and a sink would have equal weights whatever their logits. floor = 1 is the clipped form, for models
trained without log-n: it changes nothing up to L.
"""

from math import log

from torch import Tensor

from extrap.model.functional import check_length
from extrap.model.scheme import Scheme, Shape, Where
from extrap.utils.bounds import NotNegative


class LogN(Scheme):
    """Log-n scaling: the logits of a query grow with the logarithm of its number of keys.

    Args:
        floor: lowest temperature

    Raises ValueError for a training length below 2.

    Kind: modifier
    Used by: Qwen
    Past L: defined; logits grow with ln n
    """

    def __init__(self, shape: Shape, floor: NotNegative = 0.1):
        super().__init__(shape)
        check_length(shape.length)
        self.floor = floor

    def temperature(self, at: Where) -> Tensor:
        log_n = at.count.double().log()
        c = log_n / log(self.shape.length)
        return c.clamp(min=self.floor)[:, None]
