"""CoPE, contextual position encoding: a query counts the keys that its gates select. arXiv
2405.18719.

g_ij = sigmoid(<q_i, k_j> / sqrt(D)),   p_ij = min(g_ij + ... + g_ii, pmax - 1),
z_im = <q_i, e_m>,   b_ij = (1 - u) z_i[floor p_ij] + u z_i[ceil p_ij],   u = p_ij - floor p_ij
Both ends count: p_ii = g_ii. Hidden keys do not count. z uses unscaled q. With g = 1, p = i - j +
1: clipped Shaw keys.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from extrap.model.functional import table_limit
from extrap.model.scheme import Scheme, Shape, Size, Where, wide


class CoPE(Scheme):
    """Contextual position encoding: the distance counts the keys that the gates of a query select.

    Args:
        pmax: number of counts with an embedding; the last serves all greater counts; null stands
            for min(64, L / 2)

    Parameters: pmax x D per layer, zero at first, so that the first step does not train the gates.
    Raises ValueError unless 2 <= pmax <= L.

    Kind: relative
    Past L: counts are clamped
    """

    own_vectors = True

    def __init__(self, shape: Shape, pmax: Size | None = None):
        super().__init__(shape)
        L = shape.length
        default = min(64, L // 2)
        self.pmax = table_limit("pmax", pmax, default, 2, L)
        self.e = nn.Parameter(torch.zeros(shape.layers, self.pmax, shape.head_dim))

    def bias(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        keys = k.flip(-2)  # counts begin at the query
        last_first = (q * at.scale) @ keys.mT
        gates = last_first.sigmoid() * at.visible.flip(-1)
        e = self.e[at.layer].to(q.dtype)
        z = q @ e.T
        return self.interpolated(z, gates).flip(-1)

    def interpolated(self, z: Tensor, gates: Tensor) -> Tensor:
        """Returns b (..., Tq, Tk) from z (..., Tq, pmax) and gates (..., Tq, Tk), the last key
        first. Sums counts in float32 at least: bfloat16 has no whole numbers past 256.
        """
        p = wide(gates).cumsum(-1)
        last = self.pmax - 1
        if p.device.type == "cpu" and not torch.compiler.is_compiling():
            # without the first keys, which no query counts any more
            of_rows = p.detach().flatten(0, -2)
            least = of_rows.amin(0)
            counted = int((least < last).sum())
            p = p[..., :counted]
        p = p.clamp(max=last)
        n = p.detach().long()
        u = p - n
        step = F.pad(z.diff(dim=-1), (0, 1))  # nothing follows the last embedding
        low = z.gather(-1, n)
        b = torch.addcmul(low, u, step.gather(-1, n))
        uncounted = gates.shape[-1] - p.shape[-1]
        far = z[..., -1:].expand(*z.shape[:-1], uncounted)
        return torch.cat([b, far], -1)
