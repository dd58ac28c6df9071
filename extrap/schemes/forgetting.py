"""Forgetting attention: a forget gate per token and head, an ALiBi whose slope depends on the data.
arXiv 2503.02130.

b_ij = sum_{t=j+1}^{i} ln sigmoid(f_t),   f_t = w x_t + gate    (x: normed input of the layer)
The tokens between query and key decide how much of the key is left; a constant gate is ALiBi of
slope -ln sigmoid(gate). CABLE, arXiv 2503.08067, is the same by its authors' code: there b_ij sums
-softplus(f_t), which is ln sigmoid(-f_t), with logits <q, k> without the 1 / sqrt(D).
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from extrap.model.scheme import Scheme, Shape, Where


class Forgetting(Scheme):
    """Forgetting attention: a bias by the forget gates of the tokens between query and key.

    Args:
        gate: initial logit of every gate. 0, the default of the authors' code, forgets half per
            token; 5 forgets 0.7 %

    Parameters: (C + 1) H per layer; w ~ N(0, 0.02**2).

    Kind: relative
    Used by: Forgetting Transformer
    Past L: defined; decays with what is forgotten
    """

    def __init__(self, shape: Shape, gate: float = 0.0):
        super().__init__(shape)
        of_head = (shape.layers, shape.heads)
        w = torch.randn(*of_head, shape.dim)
        b = torch.full(of_head, float(gate))
        self.w = nn.Parameter(0.02 * w)
        self.b = nn.Parameter(b)

    def bias(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        x = at.x
        w = self.w[at.layer].to(x.dtype)
        b = self.b[at.layer].to(x.dtype)
        f = F.linear(x, w, b)
        kept = F.logsigmoid(f.double()).cumsum(1)  # ln of the share left
        kept = kept.transpose(1, 2)  # (B, H, T)
        up_to_query = kept[..., at.i, None]
        up_to_key = kept[..., None, at.j]
        return up_to_query - up_to_key
