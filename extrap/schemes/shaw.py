"""Shaw's relative keys and values: one learned vector per clipped distance. arXiv 1803.02155.

l_ij = <q_i, k_j + aK[r]> / sqrt(D),   o_i = sum_j A_ij (v_j + aV[r]),   r = min(i - j, clip)
The 1 / sqrt(D) scales the aK term too. Both tables are shared by the heads of a layer.
"""

import torch
from torch import Tensor, nn

from extrap.model.functional import by_step, sum_by_steps, table_limit
from extrap.model.scheme import Scheme, Shape, Size, Where


class Shaw(Scheme):
    """Relative keys and values: one learned vector for each clipped distance.

    Args:
        clip: farthest distance in tokens with vectors of its own; null stands for min(16, L / 4),
            16 as in the paper

    Parameters: 2 (clip + 1) D per layer, N(0, 0.02**2) (the paper gives no initialisation). Raises
    ValueError unless 1 <= clip < L.

    Kind: relative
    Used by: Music Transformer, Wav2Vec2-BERT (keys)
    Past L: clipped; all far keys share the last row
    """

    own_vectors = True

    def __init__(self, shape: Shape, clip: Size | None = None):
        super().__init__(shape)
        L = shape.length
        default = max(min(16, L // 4), 1)
        self.clip = table_limit("clip", clip, default, 1, L - 1)
        rows = self.clip + 1
        size = shape.layers, rows, shape.head_dim
        keys = torch.randn(size)
        values = torch.randn(size)
        self.keys = nn.Parameter(0.02 * keys)
        self.values = nn.Parameter(0.02 * values)

    def bias(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        keys = self.keys[at.layer].to(q.dtype)
        of_distance = q @ (keys.T * at.scale)
        return by_step(of_distance, at)

    def mix(self, a: Tensor, v: Tensor, at: Where) -> Tensor:
        values = self.values[at.layer].to(a.dtype)
        of_distance = sum_by_steps(a, at, self.clip)
        return a @ v + of_distance @ values
