"""What a hook of a scheme is told about the place it acts in: coordinates, order, visibility.

Coordinates are handed in and never made by a scheme. That gives blocks of query rows, interpolation, randomised positions,
shift tests and streaming for free. Letters: B batch, T tokens, C width, H heads, D head width; all lengths are in tokens.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor


class OutOfRange(ValueError):
    """A coordinate lies past the finite table of a scheme: the quantity is undefined there, not merely bad."""


@dataclass(eq=False)
class Where:
    """The place of one call: queries (Tq,) against keys (Tk,) in one layer of one forward.

    q, k     coordinates, float64, real numbers, possibly remapped
    i, j     token order, int64, whole numbers
    length   tokens in this forward, whatever the size of the block
    scale    factor on <q, k> in force in the whole stack
    spacing  distance of neighbours where coordinates are evenly spaced, else None
    x        (B, T, C) normed input of the layer;  tokens (B, T);  both whole, index them with i and j
    """

    q: Tensor
    k: Tensor
    i: Tensor
    j: Tensor
    length: int
    scale: float
    layer: int = 0
    spacing: float | None = None
    x: Tensor | None = None
    tokens: Tensor | None = None
    sees: Callable[["Where"], Tensor | None] | None = None
    causal: bool = True
    memo: dict[Any, Any] = field(default_factory=dict)
    tag: tuple[Any, ...] = ()

    @classmethod
    def whole(cls, t: Tensor, scale: float, **more: Any) -> "Where":
        """All queries against all keys at coordinates t (T,), float64."""
        n = torch.arange(t.numel(), device=t.device)
        return cls(q=t, k=t, i=n, j=n, length=t.numel(), scale=scale, spacing=even_spacing(t), **more)

    @cached_property
    def back(self) -> Tensor:
        """(Tq, Tk) i - j, whole; negative for keys that come after the query."""
        return self.i[:, None] - self.j

    @cached_property
    def distance(self) -> Tensor:
        """(Tq, Tk) float64 >= 0. (i - j) * spacing where even, so that floor never falls on the wrong side."""
        d = self.q[:, None] - self.k if self.spacing is None else self.back.double() * self.spacing
        return d.clamp(min=0)

    @cached_property
    def steps(self) -> Tensor:
        """(Tq, Tk) int64, floor(distance)."""
        return whole_steps(self.distance)

    @cached_property
    def mask(self) -> Tensor | None:
        """What `sees` of the scheme leaves visible, or None where it says nothing."""
        return None if self.sees is None else self.sees(self)

    @cached_property
    def visible(self) -> Tensor:
        """(Tq, Tk) bool: not after the query (unless causal is off, for demonstrations) and seen by every part."""
        seen = self.back >= 0 if self.causal else torch.ones_like(self.back, dtype=torch.bool)
        return seen if self.mask is None else seen & self.mask

    @cached_property
    def count(self) -> Tensor:
        """(Tq,) visible keys of each query; i + 1 without a mask."""
        if self.mask is not None:
            return self.visible.sum(-1)
        return self.i + 1 if self.causal else torch.full_like(self.i, self.length)

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """make() at the first call of a forward, then remembered for the other layers. Hold nothing of size (Tq, Tk) here."""
        key = (self.tag, key)
        if key not in self.memo:
            self.memo[key] = make()
        return self.memo[key]

    def at_layer(self, layer: int, x: Tensor) -> "Where":
        return replace(self, layer=layer, x=x)

    def to(self, device: torch.device) -> "Where":
        q = self.q.to(device)
        k = q if self.k is self.q else self.k.to(device)
        return replace(self, q=q, k=k, i=self.i.to(device), j=self.j.to(device))

    def block(self, start: int, stop: int) -> "Where":
        """Query rows start:stop against the keys they may see."""
        keys = slice(0, stop if self.causal else None)
        rows = slice(start, stop)
        return replace(self, q=self.q[rows], i=self.i[rows], k=self.k[keys], j=self.j[keys], tag=(*self.tag, start, stop))

    def moved(self, q: Tensor, k: Tensor, name: str) -> "Where":
        """The same tokens at other coordinates; `name` keeps what is remembered apart."""
        return replace(self, q=q, k=k, spacing=None, tag=(*self.tag, name))


def whole_steps(distance: Tensor) -> Tensor:
    """floor(distance) as int64; 1e-6 keeps 2.9999999 from becoming 2."""
    return torch.floor(distance + 1e-6).long()


def even_spacing(t: Tensor) -> float | None:
    """Distance of neighbouring coordinates where it is the same everywhere (to 1e-9 relative), else None."""
    if t.numel() < 2:
        return 1.0
    steps = t.diff()
    mean = float(t[-1] - t[0]) / (t.numel() - 1)
    return mean if float((steps - mean).abs().max()) <= 1e-9 * max(abs(mean), 1e-300) else None
