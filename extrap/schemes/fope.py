"""FoPE, Fourier position embedding: each pair turns by a Fourier series, not by one frequency.
arXiv 2412.17739.

q~_i = F_h(i) q_i, k~_j = F_h(j) k_j;   pair p of head h is multiplied by
F_hp(t) = sum_w A_hwp cos(w t) + i sum_w B_hwp sin(w t),   w over the frequencies base**(-2p/D) that
exceed 2 pi / L; A, B = the identity + noise, one of each for every head of a layer, not trained
Slower pairs, which training never turns once, stand still: they are the zero frequency. With A = B
= 1, and up to D / 4 frequencies, this is RoPE without its slow pairs. The noise makes products of
two frequencies w != w', so that logits depend on i and j, and not on i - j alone.
"""

from math import ceil, pi

import torch
from torch import Tensor, nn

from extrap.model.functional import frequencies
from extrap.model.rotary import pairing, turn
from extrap.model.scheme import Scheme, Shape, Where
from extrap.utils.bounds import Base, NotNegative


class FoPE(Scheme):
    """Fourier position embedding: each pair turns by a Fourier series in place of one frequency.

    Args:
        base: of RoPE's frequencies
        noise: gain g; A and B have noise of variance 2 g**2 / (P (W + G)), W frequencies, P turning
            pairs, G heads of keys: Xavier of a tensor (G, W, P), as in the authors' code.
            They took .3 at 60M parameters, .4 at 180M, .6 at 1.2B

    At most D / 4 pairs turn; with more frequencies every second one, or every third, leads a pair,
    and a last pair that none leads is multiplied by noise alone, as in the authors' code.
    Their listing pads the sine of pairs that stand still by 1, which turns them by 45 degrees times
    sqrt(2) at every place; here the pairs stay as they are. It divides A and B by their sums over
    w; the configurations of their code do not. Parameters: none (checkpoints hold A and B). Raises
    ValueError for an odd head width, and where no frequency exceeds 2 pi / L.

    Kind: absolute
    Past L: defined; all frequencies turned in training
    """

    by_phase = True
    A: Tensor
    B: Tensor

    def __init__(self, shape: Shape, base: Base = 10000.0, noise: NotNegative = 0.3):
        super().__init__(shape)
        pairing("interleaved", shape.head_dim)
        theta = frequencies(shape.head_dim, base)
        slowest = 2 * pi / shape.length
        self.theta = theta[theta > slowest]
        W = len(self.theta)
        if not W:
            raise ValueError(
                f"training length {shape.length}: no frequency of base={base} turns once in it"
            )
        most = max(1, shape.head_dim // 4)
        P = min(W, most)
        G = shape.kv_heads or shape.heads
        step = ceil(W / P)
        leading = torch.arange(0, W, step)
        led = torch.arange(len(leading))
        leads = torch.zeros(W, P)
        leads[leading, led] = 1
        for name in ("A", "B"):
            series = torch.empty(shape.layers, G, W, P)
            for of_layer in series:
                nn.init.xavier_normal_(of_layer, gain=noise)
            self.register_buffer(name, leads + series)

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        of_q = self.series(at.q, at.layer, q.dtype)
        of_k = of_q if at.k is at.q else self.series(at.k, at.layer, k.dtype)
        return self.turned(q, of_q), self.turned(k, of_k)

    def series(self, t: Tensor, layer: int, dtype: torch.dtype) -> Tensor:
        """Returns F (G, T, P), complex, at coordinates t (T,), for channels of dtype."""
        theta = self.theta.to(t.device)
        angle = t[:, None] * theta
        real = angle.cos() @ self.A[layer].double()
        imaginary = angle.sin() @ self.B[layer].double()
        turns = torch.complex(real, imaginary)
        return turns if dtype == torch.float64 else turns.to(torch.complex64)

    def turned(self, x: Tensor, turns: Tensor) -> Tensor:
        """Returns x (B, H, T, D) turned; heads of queries that share keys share F."""
        shared_by = x.shape[1] // len(turns)
        of_heads = turns.repeat_interleave(shared_by, 0)
        return turn(x, of_heads, "interleaved")
