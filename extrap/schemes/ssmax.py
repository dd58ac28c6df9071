"""Scalable-Softmax: log-n scaling whose slope each head learns. arXiv 2501.19399.

a_ij ~ n_i**(s l_ij) = exp(s ln(n_i) l_ij): c_i = s_{layer, h} ln(n_i), n_i the number of visible keys of query i.
"""

from math import log

import torch
from torch import Tensor, nn

from extrap.model.scheme import Scheme, Shape, Where


class SSMax(Scheme):
    """s: initial value; null stands for 1 / ln L, where the last training row starts as plain softmax (the paper's was not verified).

    Parameters: layers x H. Row 0 has c = 0: harmless under softmax, which sees one key, but a sink then takes half of it.
    Raises ValueError for a training length below 2.

    Kind: modifier
    Used by: Llama 4 (a fixed variant in its NoPE layers)
    Past L: defined
    Source: arXiv 2501.19399
    """

    def __init__(self, shape: Shape, s: float | None = None):
        super().__init__(shape)
        if shape.length < 2:
            raise ValueError(f"training length {shape.length}: ln n says nothing below 2")
        self.s = nn.Parameter(torch.full((shape.layers, shape.heads), 1 / log(shape.length) if s is None else s))

    def temperature(self, at: Where) -> Tensor:
        return self.s[at.layer].double()[:, None, None] * at.count.double().log()[:, None]
