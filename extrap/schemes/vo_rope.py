"""VO-RoPE, also RoVE: the values turn with their position and the output turns back.
https://kexue.fm/archives/10862, arXiv 2606.11275.

o_i = R_i^T sum_j A_ij R_j v_j = sum_j A_ij R_{j-i} v_j, per head and before the output projection.
Without the outer R_i^T it would be absolute. It goes with a scheme on queries and keys: vo-rope is
the stack of RoPE and this class.
"""

from torch import Tensor

from extrap.model.rotary import Turning, turn
from extrap.model.scheme import Where


class VORoPE(Turning):
    """Rotary position embedding of the values: they turn by position, and the output turns back.

    Raises ValueError for an odd head width, a base of 1 or less and channels
    that are not paired.

    Kind: relative
    Used by: DeepSeek-V4 (on the channels that turn)
    Past L: defined; slow pairs meet angles never trained
    Source: https://kexue.fm/archives/10862; arXiv 2606.11275
    """

    def mix(self, a: Tensor, v: Tensor, at: Where) -> Tensor:
        of_k = self.phases(at.k, at, v.dtype)
        back = self.phases(-at.q, at, v.dtype)
        o = a @ turn(v, of_k, self.layout)
        return turn(o, back, self.layout)
