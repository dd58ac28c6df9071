"""Complex-order embedding: every word turns at frequencies of its own. arXiv 1912.12333.

f(w, i) = r_w exp(I (omega_w i + phi_w)) in each of C / 2 complex channels;   x_i = [Re f ; Im f]
so f(w, i + c) = f(w, i) exp(I omega_w c) and |f(w, i)| = |r_w|. The token embedding [a ; b] holds r
e^{I phi} = a + I b. The paper's attention is complex as well; here it is the real attention of
every scheme, and positions start at 0, not 1.
"""

from typing import Literal

import torch
from torch import Tensor, nn

from extrap.model.functional import check_even
from extrap.model.scheme import Scheme, Shape, Where
from extrap.utils.bounds import Base

PACE = 0.1
"""Learning rate of frequencies over all others: position 1000 magnifies every step of
theirs a thousand times.
"""


class ComplexOrder(Scheme):
    """Complex-order embedding: a word's embedding turns with the position.

    Args:
        sharing: frequencies per word and channel (V x C / 2), per word (V), or per channel (C / 2:
            a rotary embedding)
        phase: `word` takes r and phi from both halves of the token embedding; `zero` takes r from
            the first half and phi = 0, as in the authors' code, and leaves the second half idle
        base: omega starts at base**(-2 floor(c / 2) / (C / 2)), or base**-U(0, 1) per word

    Raises ValueError for an odd width.

    Kind: absolute
    Past L: defined; trained frequencies reach phases never seen
    """

    def __init__(
        self,
        shape: Shape,
        sharing: Literal["word-channel", "word", "channel"] = "word-channel",
        phase: Literal["word", "zero"] = "word",
        base: Base = 10000.0,
    ):
        super().__init__(shape)
        check_even(shape.dim, "complex numbers")
        self.phase = phase
        half = shape.dim // 2
        pair = torch.arange(half) // 2
        omega = base ** (-2 * pair / half)
        if sharing == "word-channel":
            omega = omega.repeat(shape.vocab, 1)
        elif sharing == "word":
            omega = base ** -torch.rand(shape.vocab, 1)
        self.paced = nn.Parameter(omega / PACE)

    def omega(self, tokens: Tensor) -> Tensor:
        """Returns the frequencies of tokens (B, T), float64, broadcastable to (B, T, C / 2)."""
        paced = self.paced
        if paced.dim() == 2:
            paced = paced[tokens]
        return paced.double() * PACE

    def embed(self, x: Tensor, at: Where) -> Tensor:
        if at.layer:
            return x
        angle = self.omega(at.tokens) * at.q[:, None]
        cos = angle.cos().to(x.dtype)
        sin = angle.sin().to(x.dtype)
        a, b = x.chunk(2, -1)
        if self.phase == "zero":
            b = torch.zeros_like(b)
        real = a * cos - b * sin
        imaginary = a * sin + b * cos
        return torch.cat([real, imaginary], -1)
