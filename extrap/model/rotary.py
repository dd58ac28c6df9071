"""Rotation of pairs of channels, which the RoPE family shares. arXiv 2104.09864.

Pair p of a token at coordinate t turns by t theta_p:  (a, b) -> (a cos - b sin, a sin + b cos),
i.e. times e^(i t theta_p). Angles stay in float64 up to the cosine: in float32 an angle at position
10^6 would be wrong in the second decimal.
"""

from typing import Literal

import torch
from torch import Tensor

from extrap.model.functional import frequencies
from extrap.model.scheme import Scheme, Shape, Where

Layout = Literal["interleaved", "half"] | list[int]
"""Channels of a pair. interleaved: (2p, 2p + 1), as in the paper, GPT-J and RoFormer; half: (p, p +
D/2), as in Llama and NeoX; a list names the channels pair by pair: [0, 3, 1, 2] pairs (0, 3) and
(1, 2).
"""


def pairing(layout: Layout, width: int) -> Tensor:
    """Returns the channels of each pair, (width / 2, 2). Raises ValueError for a lone channel."""
    if width % 2 or width < 2:
        raise ValueError(
            f"rotation turns pairs of channels; {width} channels (dim / heads) are not pairs; "
            "give an even number"
        )
    if layout == "interleaved":
        return torch.arange(width).view(-1, 2)
    if layout == "half":
        return torch.arange(width).view(2, -1).T
    if sorted(layout) != list(range(width)):
        raise ValueError(
            f"layout={layout}: name each of the channels 0 to {width - 1} once, pair by pair"
        )
    return torch.tensor(layout).view(-1, 2)


def relayout(weight: Tensor, heads: int, source: Layout, target: Layout) -> Tensor:
    """Converts the weight (H * D, C) or bias (H * D,) of a query or key projection trained under
    `source` for use under `target`.

    Rows move within each head so that every pair keeps its frequency. Scores stay the same if the
    caller converts both projections.
    """
    width = weight.shape[0] // heads
    row = torch.empty(width, dtype=torch.long)
    row[pairing(target, width)] = pairing(source, width)
    of_heads = weight.unflatten(0, (heads, width))
    return of_heads[:, row].flatten(0, 1)


def phase(angle: Tensor, dtype: torch.dtype) -> Tensor:
    """Returns e^(i angle) for float64 angles: complex128 for float64 channels, else complex64."""
    ones = torch.ones_like(angle)
    turns = torch.polar(ones, angle)
    return turns if dtype == torch.float64 else turns.to(torch.complex64)


def turn(x: Tensor, turns: Tensor, layout: Layout) -> Tensor:
    """Turns the first 2P channels of x (..., T, D) by turns (T, P), or of a layout that names more
    of them; the others pass unchanged.
    """
    width = 2 * turns.shape[-1]
    if isinstance(layout, list):
        rest = range(len(layout), x.shape[-1])
        order = torch.tensor([*layout, *rest], device=x.device)
        back = order.argsort()
        turned = turn(x[..., order], turns, "interleaved")
        return turned[..., back]
    if width < x.shape[-1]:
        turned = turn(x[..., :width], turns, layout)
        return torch.cat([turned, x[..., width:]], -1)
    wide = x.to(turns.real.dtype)
    if layout == "half":
        cos = turns.real
        sin = turns.imag
        partner = wide.roll(width // 2, -1)
        of_own = torch.cat([cos, cos], -1)
        of_partner = torch.cat([-sin, sin], -1)
        turned = torch.addcmul(wide * of_own, partner, of_partner)
        return turned.to(x.dtype)
    if wide.stride(-1) != 1:
        wide = wide.contiguous()
    pairs = torch.view_as_complex(wide.unflatten(-1, (-1, 2)))
    turned = torch.view_as_real(pairs * turns)
    return turned.flatten(-2).to(x.dtype)


class Turning(Scheme):
    """A scheme that turns pairs of channels by one grid of frequencies.

    Args:
        base: of the frequencies theta_p = base**(-2p/n), n the number of channels that turn; above
            1
        layout: channels of a pair: `interleaved`, neighbours; `half`, p and p + n/2; or a list

    Raises ValueError for an odd n, a base of 1 or less and channels that the layout does not pair.
    """

    turned: int | None = None
    """Channels of each head that turn, the first ones; None: all."""

    def __init__(self, shape: Shape, base: float = 10000.0, layout: Layout = "interleaved"):
        super().__init__(shape)
        pairing(layout, self.turned or shape.head_dim)
        if base <= 1:
            raise ValueError(f"base={base}: must exceed 1, so that later pairs turn slower")
        self.base = base
        self.layout: Layout = layout

    def spectrum(self, n: int) -> Tensor | None:
        return frequencies(self.turned or self.shape.head_dim, self.base)

    def phases(self, t: Tensor, at: Where, dtype: torch.dtype) -> Tensor:
        """Returns e^(i t theta) for coordinates t (T,): (T, P), for channels of dtype."""
        angle = self.angle(t, self.theta(at))
        return phase(angle, dtype)

    def angle(self, t: Tensor, theta: Tensor) -> Tensor:
        """Returns the angles (T, P) of tokens at coordinates t (T,)."""
        return t[:, None] * theta

    def theta(self, at: Where) -> Tensor:
        """Returns the frequencies of this forward, (P,)."""
        theta = self.spectrum(at.length)
        assert theta is not None
        return theta.to(at.q.device)


class Rotary(Turning):
    """A member of the RoPE family: each has its own frequencies.

    q~_i = R_i q_i, k~_j = R_j k_j

    Raises ValueError as Turning does.
    """

    by_phase = True
    published = False
    """Whether a published checkpoint brought the rotation."""
    louder: bool | None = True
    """Whether a factor on channels that turn comes through to attention; False if a norm behind the
    rotation takes it away, None if that norm mixes them with other channels.
    """

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        def turns() -> tuple[Tensor, Tensor]:
            of_q = self.phases(at.q, at, q.dtype)
            if at.k is at.q:
                return of_q, of_q
            return of_q, self.phases(at.k, at, k.dtype)

        of_q, of_k = at.once(self, turns, q.dtype)
        return turn(q, of_q, self.layout), turn(k, of_k, self.layout)
