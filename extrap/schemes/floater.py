"""FLOATER: positions are the path of a learned differential equation. arXiv 2003.09229.

dp/dt = h(t, p), p(0) = p_0;   position i is p(i Delta)

From position i - 1 to i the path adds the integral of h over one Delta. h = Linear - ReLU - Linear,
with t as one more input of both; one h serves all states. The classic Runge-Kutta rule integrates
along the coordinates from 0 on, `steps` per unit, through gaps between coordinates as well. Past L
the path goes on at times that h never met in training.
"""

from collections.abc import Callable, Sequence
from math import ceil
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from extrap.model.scheme import Scheme, Shape, Size, Where, wide
from extrap.utils.bounds import Positive

Dynamics = Literal["timed", "autonomous"]
Field = Callable[[float, Tensor], Tensor]


def rk4(h: Field, p: Tensor, times: list[float], steps: Sequence[int]) -> Tensor:
    """Returns states (n, *p.shape) at sorted times >= 0 of dp/dt = h(t, p), p(0) = p, by the
    classic rule with steps[m] equal steps to times[m] from the time before.
    """
    path: list[Tensor] = []
    t = 0.0
    for end, count in zip(times, steps, strict=True):
        for n in range(count):
            dt = (end - t) / count
            half = dt / 2
            now = t + n * dt
            k1 = h(now, p)
            k2 = h(now + half, p + half * k1)
            k3 = h(now + half, p + half * k2)
            k4 = h(now + dt, p + dt * k3)
            slope = k1 + 2 * (k2 + k3) + k4
            p = p + dt / 6 * slope
        path.append(p)
        t = end
    return torch.stack(path)


class Flow(nn.Module):
    """The learned field h and its integration."""

    def __init__(self, dim: int, dynamics: Dynamics, delta: float, steps: int):
        super().__init__()
        self.dim = dim
        self.delta = delta
        self.steps = steps
        width = dim + (dynamics == "timed")
        self.inner = nn.Linear(width, dim)
        self.outer = nn.Linear(width, dim)
        for layer in (self.inner, self.outer):
            nn.init.xavier_normal_(layer.weight)
            nn.init.zeros_(layer.bias)

    def field(self) -> Field:
        """Returns h in float32 at least; the last column of a weight is for t."""
        a = wide(self.inner.weight)
        c = wide(self.inner.bias)
        b = wide(self.outer.weight)
        d = wide(self.outer.bias)
        if a.shape[1] == self.dim:

            def autonomous(t: float, p: Tensor) -> Tensor:
                hidden = F.linear(p, a, c).relu()
                return F.linear(hidden, b, d)

            return autonomous
        of_p, of_t = a.split([self.dim, 1], 1)
        out_of_p, out_of_t = b.split([self.dim, 1], 1)
        of_t = of_t[:, 0]
        out_of_t = out_of_t[:, 0]

        def timed(t: float, p: Tensor) -> Tensor:
            hidden = F.linear(p, of_p, c + t * of_t).relu()
            return F.linear(hidden, out_of_p, d + t * out_of_t)

        return timed

    def forward(self, start: Tensor, coordinates: Tensor) -> Tensor:
        """Returns states (n, *start.shape) at coordinates (n,) >= 0 of a path from `start`."""
        passed, index = coordinates.double().unique(return_inverse=True)
        gaps = passed.diff(prepend=passed.new_zeros(1)).tolist()
        steps = [self.steps * ceil(gap - 1e-6) for gap in gaps]
        times = (passed * self.delta).tolist()
        states = rk4(self.field(), wide(start), times, steps)
        return states[index]


class Floater(Scheme):
    """A path of learned dynamics, added to the token embedding: x_i <- x_i + p_i.

    Args:
        dynamics: `timed` or, without the input t, `autonomous`
        delta: time between two positions
        steps: of the integration, per unit of coordinates

    p_0 ~ N(0, 0.7**2), of the size of token embeddings. Parameters: C + 2 C (C + 2). Time and
    memory of the path: the last coordinate, one unit after the other, once per forward.

    Kind: absolute
    Past L: defined; the path goes on to states never trained
    """

    def __init__(
        self, shape: Shape, dynamics: Dynamics = "timed", delta: Positive = 0.01, steps: Size = 1
    ):
        super().__init__(shape)
        start = torch.randn(shape.dim)
        self.start = nn.Parameter(start * 0.7)
        self.flow = Flow(shape.dim, dynamics, delta, steps)

    def embed(self, x: Tensor, at: Where) -> Tensor:
        if at.layer:
            return x
        path = self.flow(self.start, at.q)
        return x + path.to(x.dtype)


class FloaterQKV(Scheme):
    """Paths of learned dynamics, added to q_i, k_i and v_i of every layer.

    Args:
        dynamics: `timed` or, without the input t, `autonomous`
        delta: time between two positions
        steps: of the integration, per unit of coordinates

    There are 3 x layers paths of one h, integrated side by side. The original keeps a sinusoid at
    the input as well: a stack of the two. It takes five steps a position by the rule of 3/8, and
    lets a gradient into the path at every 400th update alone. p_0 is Xavier normal. Parameters: 3
    layers C + 2 C (C + 2).

    Kind: absolute
    Past L: defined; the path goes on to states never trained
    """

    own_keys = full_width = own_vectors = True

    def __init__(
        self, shape: Shape, dynamics: Dynamics = "timed", delta: Positive = 0.01, steps: Size = 1
    ):
        super().__init__(shape)
        start = torch.empty(3, shape.layers, shape.dim)
        nn.init.xavier_normal_(start)
        self.start = nn.Parameter(start)
        self.flow = Flow(shape.dim, dynamics, delta, steps)

    def state(self, which: int, coordinates: Tensor, at: Where) -> Tensor:
        """Returns the states (H, n, D) of q, k or v (0, 1, 2) in this layer. A block of rows uses
        the start of the path of the whole forward.
        """
        n = len(coordinates)
        none = coordinates[:0]
        known, path = at.memo.get(self, (none, none))
        if not torch.equal(known[:n], coordinates):
            path = self.flow(self.start, coordinates)
            at.memo[self] = coordinates, path
        p = path[:n, which, at.layer]
        return p.unflatten(-1, (self.shape.heads, -1)).transpose(0, 1)

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        of_q = self.state(0, at.q, at)
        of_k = self.state(1, at.k, at)
        return q + of_q.to(q.dtype), k + of_k.to(k.dtype)

    def mix(self, a: Tensor, v: Tensor, at: Where) -> Tensor:
        of_v = self.state(2, at.k, at)
        return a @ (v + of_v.to(v.dtype))
