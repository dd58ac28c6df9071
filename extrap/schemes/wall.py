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
        channels = shape.heads * shape.head_dim
        self.w = nn.Parameter(0.02 * torch.randn(shape.layers, channels, shape.dim))
        self.b = nn.Parameter(torch.full((shape.layers, channels), float(gate)))

    def score(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        q, k = wide(q), wide(k)
        w, b = self.w[at.layer].to(at.x.dtype), self.b[at.layer].to(at.x.dtype)
        g = F.linear(at.x, w, b)
        kept = F.logsigmoid(g.double()).cumsum(1)  # P, in float64: scores are differences of P
        kept = kept.unflatten(-1, (self.shape.heads, -1)).transpose(1, 2)  # (B, H, T, D)
        starts = range(0, len(at.i), CHUNK)
        rows = [self._rows(q[:, :, n : n + CHUNK], k, kept, int(at.i[n])) for n in starts]
        return torch.cat(rows, 2) * at.scale

    def _rows(self, q: Tensor, k: Tensor, kept: Tensor, first: int) -> Tensor:
        """Returns scores of a few rows from token `first` on; 0 for keys after the last row."""
        stop = first + q.shape[2]
        p = kept[:, :, first:stop]
        ahead = (p - p[:, :, :1]).exp().to(q.dtype)
        behind = (p[:, :, :1] - kept[:, :, :first]).exp().to(q.dtype)
        far = (q * ahead) @ (k[:, :, :first] * behind).transpose(-1, -2)
        between = (p[:, :, :, None] - p[:, :, None]).clamp(max=0).exp().to(q.dtype)
        near = torch.einsum("bhic,bhjc,bhijc->bhij", q, k[:, :, first:stop], between)
        return F.pad(torch.cat([far, near], -1), (0, k.shape[2] - stop))
