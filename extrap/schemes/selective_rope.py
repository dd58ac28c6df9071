"""Selective RoPE: how far each token turns the pairs depends on the token. arXiv 2511.17388.

q~_i = R(a_i) q_i, k~_j = R(a_j) k_j;  a_tp = theta_p sum_{s <= t} phi_sp,
phi_s = conv(V U unit(x_s)),  theta_p = base**(-2p/D)    (x: normed input of the layer; unit divides
the channels of each head, C / H of them, by their norm)
phi = 1 everywhere is RoPE. Angles are sums over the text: a token with phi = 0 adds no distance.
RoPE has the same in all layers and heads; here they differ. V, U and conv start as the authors' do,
normal with a standard deviation of .02, so that a model starts without positions.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from extrap.model.functional import causal_convolution, frequencies
from extrap.model.rotary import Layout, Turning, phase, turn
from extrap.model.scheme import Shape, Size, Where

START = 0.02
"""Standard deviation of the first weights."""


class SelectiveRoPE(Turning):
    """Rotary position embedding whose angles are sums over the text; each token gives a term.

    Args:
        base: of the temperatures theta
        rank: of V U
        taps: tokens in the convolution

    The authors' code has gates, biases, other temperatures and a full rank as options, off by
    default; this class has none. Parameters: rank (C + H D/2) + taps H D/2 per layer. Raises
    ValueError for an odd head width, a base of 1 or less, keys that heads share, and channels that
    heads cannot share alike.

    Kind: relative
    Past L: defined; angles are sums over more tokens than in training
    Source: arXiv 2511.17388; github.com/timurcarstensen/selective-rope
    """

    own_keys = by_phase = True

    def __init__(
        self,
        shape: Shape,
        base: float = 500000.0,
        rank: Size = 16,
        taps: Size = 4,
        layout: Layout = "half",
    ):
        super().__init__(shape, base, layout)
        layers = shape.layers
        C = shape.dim
        if C % shape.heads:
            raise ValueError(f"{C} channels: {shape.heads} heads cannot share them alike")
        P = shape.heads * shape.head_dim // 2
        self.down = nn.Parameter(START * torch.randn(layers, rank, C))
        self.up = nn.Parameter(START * torch.randn(layers, P, rank))
        self.taps = nn.Parameter(START * torch.randn(layers, P, taps))

    def spectrum(self, n: int) -> None:
        """None: the text decides how far a pair turns."""

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        angle = self.angles(at.x, at.layer)
        of_q = phase(angle[:, :, at.i], q.dtype)
        of_k = phase(angle[:, :, at.j], q.dtype)
        return turn(q, of_q, self.layout), turn(k, of_k, self.layout)

    def angles(self, x: Tensor, layer: int) -> Tensor:
        """Returns a (B, H, T, D/2), float64, from x (B, T, C)."""
        down = self.down[layer].to(x.dtype)
        up = self.up[layer].to(x.dtype)
        taps = self.taps[layer].to(x.dtype)
        of_heads = x.unflatten(-1, (self.shape.heads, -1))
        unit = F.normalize(of_heads, dim=-1).flatten(-2)
        read = unit @ down.T @ up.T
        phi = causal_convolution(read, taps)
        sums = phi.double().cumsum(1)
        sums = sums.unflatten(-1, (self.shape.heads, -1)).transpose(1, 2)
        theta = frequencies(self.shape.head_dim, self.base)
        return sums * theta.to(x.device)
