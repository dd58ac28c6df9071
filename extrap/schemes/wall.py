"""Wall attention: a forget gate per token, head and channel.
https://blog.tilderesearch.com/blog/wall-attn.

l_ij = sum_c q_ic k_jc exp(P_ic - P_jc) / sqrt(D),   P_tc = sum_{s <= t} ln sigmoid(g_sc),
g_s = W x_s + gate    (x: normed input of the layer)
The tokens between query and key decide how much is left of each channel of their product. Equal
gates in all channels scale the whole logit; open gates are NoPE. The logit of far keys goes to 0,
so that they lose their content and not their weight; the bias of forgetting.py goes to -inf.

P falls, so with R = P at the first of a few query rows both exp(P_i - R) and exp(R - P_j) of
earlier keys are at most 1: nothing overflows, however long the text.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from extrap.model.functional import in_full
from extrap.model.scheme import Scheme, Shape, Where, wide

CHUNK = 16


class Wall(Scheme):
    """Wall attention: a forget gate for each token, head and channel.

    Args:
        gate: initial logit of every gate; 8, as in fla's layer, forgets 0.03 % per token

    Parameters: (C + 1) H D per layer; W ~ N(0, 0.02**2). Needs the causal mask.

    Kind: relative
    Past L: defined; decays with what is forgotten
    """

    causal_only = True

    def __init__(self, shape: Shape, gate: float = 8.0):
        super().__init__(shape)
        layers = shape.layers
        channels = shape.heads * shape.head_dim
        w = torch.randn(layers, channels, shape.dim)
        b = torch.full((layers, channels), float(gate))
        self.w = nn.Parameter(0.02 * w)
        self.b = nn.Parameter(b)

    def score(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        q = wide(q)
        k = wide(k)
        kept = self.kept(at.x, at.layer)
        rows = []
        for start in range(0, len(at.i), CHUNK):
            stop = start + CHUNK
            queries = q[:, :, start:stop]
            first = int(at.i[start])
            with in_full(q):
                rows.append(self._rows(queries, k, kept, first))
        return torch.cat(rows, 2) * at.scale

    def kept(self, x: Tensor, layer: int) -> Tensor:
        """Returns P (B, H, T, D), in float64, because scores are differences of P."""
        w = self.w[layer].to(x.dtype)
        b = self.b[layer].to(x.dtype)
        g = F.linear(x, w, b)
        p = F.logsigmoid(g.double()).cumsum(1)
        return p.unflatten(-1, (self.shape.heads, -1)).transpose(1, 2)

    def _rows(self, q: Tensor, k: Tensor, kept: Tensor, first: int) -> Tensor:
        """Returns scores of a few rows from token `first` on; 0 for keys after the last row."""
        stop = first + q.shape[2]
        earlier = kept[:, :, :first]
        p = kept[:, :, first:stop]
        ahead = (p - p[:, :, :1]).exp().to(q.dtype)
        behind = (p[:, :, :1] - earlier).exp().to(q.dtype)
        far_keys = k[:, :, :first] * behind
        far = (q * ahead) @ far_keys.mT
        fallen = p[:, :, :, None] - p[:, :, None]
        between = fallen.clamp(max=0).exp().to(q.dtype)
        near_keys = k[:, :, first:stop]
        near = torch.einsum("bhic,bhjc,bhijc->bhij", q, near_keys, between)
        scores = torch.cat([far, near], -1)
        later = k.shape[2] - stop
        return F.pad(scores, (0, later))
