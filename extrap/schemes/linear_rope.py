"""RoPE in linear attention. arXiv 2104.09864, section 3.3; the second form
https://kexue.fm/archives/7546.

LinearRoPE        o_i = sum_j <R_i f(q_i), R_j f(k_j)> v_j / sum_j <f(q_i), f(k_j)>,  j <= i
                  f(x) = elu(x) + 1. Rotated products may be negative, so the denominator has no
                  rotation, and weights are no probabilities.
CosineLinearRoPE  o_i = sum_j w_ij v_j / sum_j w_ij
                  w_ij = 1 + <R_i q_i / |q_i|, R_j k_j / |k_j|>, in [0, 2]

Time and memory O(T D^2): a state sum_j k_j v_j^T runs along, over whole chunks of the sequence. No
1 / sqrt(D).
"""

from abc import abstractmethod

import torch
import torch.nn.functional as F
from torch import Tensor

from extrap.model.functional import in_full
from extrap.model.rotary import Turning, turn
from extrap.model.scheme import Where, wide

CHUNK = 64
EPS = 1e-6


def causal_sum(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Returns sum_{j <= i} <q_i, k_j> v_j, in memory linear in T."""
    sums = []
    state: Tensor | None = None
    chunks = [z.split(CHUNK, 2) for z in (q, k, v)]
    for Q, K, V in zip(*chunks, strict=True):
        own = (Q @ K.mT).tril() @ V
        added = K.mT @ V
        if state is None:
            sums.append(own)
            state = added
        else:
            sums.append(own + Q @ state)
            state = state + added
    return torch.cat(sums, 2)


class LinearAttention(Turning):
    """Linear attention whose queries and keys turn. It owns attention.

    Raises ValueError as Turning does.
    """

    causal_only = True

    @abstractmethod
    def ratio(self, q: Tensor, k: Tensor, v: Tensor, of_q: Tensor, of_k: Tensor) -> Tensor:
        """Returns o (B, H, T, D) from q, k, v in float32 at least and the phases of q and k."""

    def attend(self, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
        dtype = wide(q).dtype
        of_q = self.phases(at.q, at, dtype)
        of_k = self.phases(at.k, at, dtype)
        with in_full(q):
            o = self.ratio(wide(q), wide(k), wide(v), of_q, of_k)
        return o.to(v.dtype)


class LinearRoPE(LinearAttention):
    """Linear attention with rotation in the numerator only.

    Kind: relative
    Past L: defined; slow pairs meet angles never trained
    """

    def ratio(self, q: Tensor, k: Tensor, v: Tensor, of_q: Tensor, of_k: Tensor) -> Tensor:
        q = positive(q)
        k = positive(k)
        turned_q = turn(q, of_q, self.layout)
        turned_k = turn(k, of_k, self.layout)
        above = causal_sum(turned_q, turned_k, v)
        below = (q * k.cumsum(2)).sum(-1, keepdim=True)
        return above / below


class CosineLinearRoPE(LinearAttention):
    """Linear attention whose similarity, 1 + cosine, stays positive under rotation.

    EPS keeps a first token opposite to itself from 0 / 0.

    Kind: relative
    Past L: defined; slow pairs meet angles never trained
    Source: https://kexue.fm/archives/7546
    """

    def ratio(self, q: Tensor, k: Tensor, v: Tensor, of_q: Tensor, of_k: Tensor) -> Tensor:
        unit_q = F.normalize(q, dim=-1)
        unit_k = F.normalize(k, dim=-1)
        turned_q = turn(unit_q, of_q, self.layout)
        turned_k = turn(unit_k, of_k, self.layout)
        q = F.pad(turned_q, (0, 1), value=1 + EPS)
        k = F.pad(turned_k, (0, 1), value=1.0)
        v = F.pad(v, (0, 1), value=1.0)
        sums = causal_sum(q, k, v)
        return sums[..., :-1] / sums[..., -1:]


def positive(x: Tensor) -> Tensor:
    """Returns elu(x) + 1, without the -1 to which elu rounds below -17."""
    return x.clamp(max=0).exp() + x.relu()
