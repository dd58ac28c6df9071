"""Polar attention: attention says in which direction, not how much, and may go nowhere. arXiv
2606.25156.

s_ij = (1 + softplus(a_h) ln n_i) <q_i, k_j> / sqrt(D),   n_i: visible keys of query i
null_i = b_h + softplus(c_h) sqrt(ln(n_i + 1)): logit of one more key, the null
w = softmax over (null_i, s_ij);   u_i = sum_j w_ij v_j + w_i,null v_null,h;   o_i = u_i / |u_i|
The largest of n noise logits grows as sqrt(2 ln n): the null grows alike, so that a head that finds
nothing stays with it at every length. The direction does not count: the same keys twice change it
by the null and the temperature alone.
We read the formulas in notes of the authors' repository, which call it a draft. Their magnitude of
o_i, a function of sum w**2 beside the direction, is left out; initial values are ours.
"""

from math import expm1, log

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from extrap.model.functional import check_length, softmax, wide
from extrap.model.scheme import Scheme, Shape, Where


class NullFloor(Scheme):
    """The null by itself, with a value of zero: the sink logit of sink.py, growing with the text.

    b starts at 0, softplus(c) at 1. Parameters: 2 layers x H.

    Kind: modifier
    Past L: defined; what the null takes stays the same if logits are noise
    """

    def __init__(self, shape: Shape):
        super().__init__(shape)
        self.b = nn.Parameter(torch.zeros(shape.layers, shape.heads))
        start = log(expm1(1.0))  # softplus(c) = 1
        self.c = nn.Parameter(torch.full((shape.layers, shape.heads), start))

    def normalise(self, s: Tensor, at: Where) -> Tensor:
        b, c = (p[at.layer].double()[:, None, None] for p in (self.b, self.c))
        null = b + F.softplus(c) * (at.count + 1).double().log().sqrt()[:, None]  # (H, Tq, 1)
        return softmax(s - null.to(wide(s).dtype), torch.zeros(s.shape[1], device=s.device))


class PolarAttention(NullFloor):
    """Temperature, null and unit output. v_null starts at N(0, 0.02**2), softplus(a) at 1 / ln L.

    Parameters: 3 layers x H + layers x H D. Raises ValueError for a training length below 2.

    Kind: modifier
    Past L: defined; outputs stay of length 1
    """

    def __init__(self, shape: Shape):
        super().__init__(shape)
        check_length(shape.length)
        start = log(expm1(1 / log(shape.length)))  # softplus(a) = 1 / ln L
        self.a = nn.Parameter(torch.full((shape.layers, shape.heads), start))
        self.v = nn.Parameter(0.02 * torch.randn(shape.layers, shape.heads, 1, shape.head_dim))

    def temperature(self, at: Where) -> Tensor:
        a = F.softplus(self.a[at.layer].double())[:, None, None]
        return 1 + a * at.count.double().log()[:, None]

    def mix(self, a: Tensor, v: Tensor, at: Where) -> Tensor:
        null = 1 - a.sum(-1, keepdim=True)
        return a @ v + null * self.v[at.layer].to(v.dtype)

    def gate(self, o: Tensor, at: Where) -> Tensor:
        return F.normalize(o, dim=-1)
