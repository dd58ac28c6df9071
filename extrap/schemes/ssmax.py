"""Scalable-Softmax: log-n scaling whose slope each head learns. arXiv 2501.19399.

a_ij ~ n_i**(s l_ij) = exp(s ln(n_i) l_ij): c_i = s_{layer, h} ln(n_i), n_i the number of visible
keys of query i.
"""

from math import log

import torch
from torch import Tensor, nn

from extrap.model.functional import check_length
from extrap.model.scheme import Scheme, Shape, Where


class SSMax(Scheme):
    """Scalable-Softmax: a temperature s ln n whose slope s each head learns.

    Args:
        s: initial value; null stands for 1 / ln L, with which the last training row starts as plain
            softmax (we did not verify the paper's value)

    Parameters: layers x H. Row 0 has c = 0: harmless under softmax with its one key, but a sink
    then takes half of the weight. Raises ValueError for a training length below 2.

    Kind: modifier
    Past L: defined
    """

    def __init__(self, shape: Shape, s: float | None = None):
        super().__init__(shape)
        check_length(shape.length)
        of_head = (shape.layers, shape.heads)
        start = 1 / log(shape.length) if s is None else s
        self.s = nn.Parameter(torch.full(of_head, start))

    def temperature(self, at: Where) -> Tensor:
        s = self.s[at.layer].double()
        log_n = at.count.double().log()
        return s[:, None, None] * log_n[:, None]


class AffineSSMax(Scheme):
    """Scalable-Softmax with an intercept: c_i = s ln(n_i) + b.

    Each layer and head learns both, from s = 0 and b = 1, plain softmax. Parameters: 2 layers x H.
    transformers, models/mistral_large4/modeling_mistral_large4.py, counts positions, this class
    visible keys; without a mask they are equal.

    Kind: modifier
    Used by: Mistral Large 4
    Past L: defined
    Source: transformers, models/mistral_large4
    """

    def __init__(self, shape: Shape):
        super().__init__(shape)
        of_head = (shape.layers, shape.heads)
        self.s = nn.Parameter(torch.zeros(of_head))
        self.b = nn.Parameter(torch.ones(of_head))

    def temperature(self, at: Where) -> Tensor:
        s = self.s[at.layer].double()
        b = self.b[at.layer].double()
        log_n = at.count.double().log()
        rise = s[:, None, None] * log_n[:, None]
        return rise + b[:, None, None]
