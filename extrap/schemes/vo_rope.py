"""VO-RoPE: the values turn with their position and the output turns back.
https://kexue.fm/archives/10862.

o_i = R_i^T sum_j A_ij R_j v_j = sum_j A_ij R_{j-i} v_j, per head and before the output projection.
Without the outer R_i^T it would be absolute. It acts beside a scheme of queries and keys; vo-rope
is the stack of RoPE and this.
"""

from torch import Tensor

from extrap.model.functional import frequencies
from extrap.model.rotary import Layout, check_base, pairing, phase, turn
from extrap.model.scheme import Scheme, Shape, Where


class VORoPE(Scheme):
    """Parameters: none. Raises ValueError for an odd head width, a base of 1 or less and channels
    that are not paired.

    Kind: relative
    Used by: DeepSeek-V4 (on the channels that turn)
    Past L: defined; slow pairs meet angles never trained
    Source: https://kexue.fm/archives/10862
    Colour: blue
    """

    def __init__(self, shape: Shape, base: float = 10000.0, layout: Layout = "interleaved"):
        super().__init__(shape)
        pairing(layout, shape.head_dim)
        check_base(base)
        self.base = base
        self.layout: Layout = layout

    def spectrum(self, n: int) -> Tensor:
        """theta (D/2,), float64; what extensions wrap."""
        return frequencies(self.shape.head_dim, self.base)

    def mix(self, a: Tensor, v: Tensor, at: Where) -> Tensor:
        theta = self.spectrum(at.length).to(at.q.device)
        v = turn(v, phase(at.k[:, None] * theta, v.dtype), self.layout)
        return turn(a @ v, phase(-at.q[:, None] * theta, v.dtype), self.layout)
