"""Polar attention: attention says in which direction, not how much, and may go nowhere. arXiv
2606.25156.

heat_i = 1 + softplus(a_h) ln n_i,   n_i: visible keys of query i
s_ij = heat_i <q_i, k_j> / sqrt(D)
null_i = heat_i (b_h + softplus(c_h) sqrt(ln(n_i + 1))): logit of one more key, the null
w = softmax over (null_i, s_ij);   u_i = sum_j w_ij v_j + w_i,null v_null,h;   o_i = u_i / |u_i|
The largest of n noise logits grows as sqrt(2 ln n), and their sum as n. The root meets the largest,
the heat on the null meets the sum: a head that finds nothing stays with the null at every length.
The direction does not count: the same keys twice change it by the null and the temperature alone.
We read the formulas in notes of the authors' repository, which call it a draft. Left out are their
magnitude of o_i, a function of sum w**2 and of the direction, the norms of q and k by heads, the
sigmoid gate of o, and a loss that calibrates the null, which is off by default. Initial values are
theirs.
"""

from math import expm1, log

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from extrap.model.functional import softmax, wide
from extrap.model.scheme import Scheme, Shape, Where


class NullFloor(Scheme):
    """The null of Polar attention by itself: a sink logit that grows with the text.

    The null has no heat, and a value of zero.

    b starts at 0, softplus(c) at 1. Parameters: 2 layers x H.

    Kind: modifier
    Past L: defined; the null's share falls if logits are noise
    """

    def __init__(self, shape: Shape):
        super().__init__(shape)
        of_head = (shape.layers, shape.heads)
        one = log(expm1(1.0))  # softplus(one) = 1
        self.b = nn.Parameter(torch.zeros(of_head))
        self.c = nn.Parameter(torch.full(of_head, one))

    def null(self, at: Where) -> Tensor:
        """Returns the logit of the null, (H, Tq, 1), float64."""
        b = self.b[at.layer].double()
        c = self.c[at.layer].double()
        slope = F.softplus(c)
        log_n = (at.count + 1).double().log()
        grown = log_n.sqrt()[:, None]
        return b[:, None, None] + slope[:, None, None] * grown

    def normalise(self, s: Tensor, at: Where) -> Tensor:
        dtype = wide(s).dtype
        null = self.null(at).to(dtype)
        zero = torch.zeros(s.shape[1], device=s.device)
        return softmax(s - null, zero)


class PolarAttention(NullFloor):
    """Polar attention: a temperature, a null and an output of length 1.

    b starts at 2, c at .5, a at -1, v_null at 0. Parameters: 3 layers x H + layers x H D.

    Kind: modifier
    Past L: defined; outputs stay of length 1, the null keeps its share if logits are noise
    """

    def __init__(self, shape: Shape):
        super().__init__(shape)
        of_head = (shape.layers, shape.heads)
        nn.init.constant_(self.b, 2.0)
        nn.init.constant_(self.c, 0.5)
        self.a = nn.Parameter(torch.full(of_head, -1.0))
        self.v = nn.Parameter(torch.zeros(*of_head, 1, shape.head_dim))

    def temperature(self, at: Where) -> Tensor:
        a = self.a[at.layer].double()
        slope = F.softplus(a)
        log_n = at.count.double().log()
        return 1 + slope[:, None, None] * log_n[:, None]

    def null(self, at: Where) -> Tensor:
        return self.temperature(at) * super().null(at)

    def mix(self, a: Tensor, v: Tensor, at: Where) -> Tensor:
        null = 1 - a.sum(-1, keepdim=True)
        value = self.v[at.layer].to(v.dtype)
        return a @ v + null * value

    def gate(self, o: Tensor, at: Where) -> Tensor:
        return F.normalize(o, dim=-1)
