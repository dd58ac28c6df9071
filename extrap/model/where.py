"""Context of one attention call, as hooks see it: coordinates, order, visibility.

A scheme receives coordinates and never makes them. Blocks of query rows, interpolation, randomised
positions, shift tests and streaming follow from that. Letters as in scheme.py, lengths in tokens.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor


class computed_once:  # noqa: N801  it reads like property
    """functools.cached_property without the lock that it holds until Python 3.12, which
    torch.compile cannot follow.
    """

    def __init__(self, make: Callable[[Any], Any]):
        self.make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, place: Any, owner: type | None = None) -> Any:
        if place is None:
            return self
        value = place.__dict__[self.name] = self.make(place)
        return value


@dataclass(eq=False)
class Where:
    """One attention call: queries (Tq,) against keys (Tk,) in one layer of one forward.

    q, k     coordinates, float64, real numbers, possibly remapped
    i, j     tokens of this forward, int64, whole numbers
    length   tokens in this forward, whatever the size of the block
    scale    factor on <q, k> in force in the whole stack
    spacing  distance of neighbours where coordinates are evenly spaced, else None
    x        (B, T, C) normed input of the layer, whole: index it with i and j
    tokens   (B, T), whole as well
    left_out (T,) int64, tokens of the text in front of each that this forward leaves out, else None
    near     whether `rotate` of a map of distances serves near tokens alone, in D channels

    Masks and zones go by the order in the whole text: `order`, `back`, and i and j of `sees`.
    """

    q: Tensor
    k: Tensor
    i: Tensor
    j: Tensor
    length: int
    scale: float
    layer: int = 0
    spacing: float | None = None
    # None until a forward enters a layer, and in probes without tokens
    x: Tensor = None  # pyright: ignore[reportAssignmentType]
    tokens: Tensor = None  # pyright: ignore[reportAssignmentType]
    sees: Callable[["Where"], Tensor | None] | None = None
    causal: bool = True
    left_out: Tensor | None = None
    near: bool = False
    memo: dict[Any, Any] = field(default_factory=dict)
    tag: tuple[Any, ...] = ()

    @classmethod
    def whole(cls, t: Tensor, scale: float, **more: Any) -> "Where":
        """Returns all queries against all keys at coordinates t (T,), float64."""
        T = t.numel()
        n = torch.arange(T, device=t.device)
        if "spacing" not in more:
            whole = more.get("left_out") is None
            more["spacing"] = even_spacing(t) if whole else None
        return cls(q=t, k=t, i=n, j=n, length=T, scale=scale, **more)

    @computed_once
    def order(self) -> tuple[Tensor, Tensor]:
        """(Tq,), (Tk,) int64: places of queries and keys in the whole text; i and j unless tokens
        are left out.
        """
        if self.left_out is None:
            return self.i, self.j
        of_q = self.i + self.left_out[self.i]
        of_k = self.j + self.left_out[self.j]
        return of_q, of_k

    @computed_once
    def back(self) -> Tensor:
        """(Tq, Tk) tokens from the key to the query in the whole text; negative for later keys."""
        of_q, of_k = self.order
        return of_q[:, None] - of_k

    def coordinate(self, place: int) -> Tensor:
        """Returns the coordinate of a place in the whole text, or of the last key if that comes
        before; between two keys, on the line between theirs.
        """
        order = self.order[1]
        n = (order < place).sum().clamp(max=len(order) - 1)
        before = (n - 1).clamp(min=0)
        over = (order[n] - place).clamp(min=0)
        gap = (order[n] - order[before]).clamp(min=1)
        back = over.double() / gap
        step = self.k[n] - self.k[before]
        return self.k[n] - back * step

    @computed_once
    def distance(self) -> Tensor:
        """(Tq, Tk) float64 >= 0; back * spacing where even, so that floor stays exact."""
        if self.spacing is None:
            d = self.q[:, None] - self.k
        else:
            d = self.back.double() * self.spacing
        return d.clamp(min=0)

    @computed_once
    def steps(self) -> Tensor:
        """(Tq, Tk) int64, floor(distance)."""
        return whole_steps(self.distance)

    @computed_once
    def mask(self) -> Tensor | None:
        """(Tq, Tk) bool: pairs that `sees` of the scheme leaves visible; None without a mask."""
        if self.sees is None:
            return None
        if self.left_out is None:
            return self.sees(self)
        i, j = self.order
        in_text = replace(self, i=i, j=j, left_out=None)
        return self.sees(in_text)

    @computed_once
    def visible(self) -> Tensor:
        """(Tq, Tk) bool: pairs that the causal mask, if on, and every part leave visible."""
        if self.causal:
            seen = self.back >= 0
        else:
            seen = torch.ones_like(self.back, dtype=torch.bool)
        if self.mask is None:
            return seen
        return seen & self.mask

    @computed_once
    def count(self) -> Tensor:
        """(Tq,) visible keys of each query; i + 1 without a mask."""
        if self.mask is not None:
            return self.visible.sum(-1)
        if self.causal:
            return self.i + 1
        return torch.full_like(self.i, self.length)

    def once(self, owner: object, make: Callable[[], Any], *key: Hashable) -> Any:
        """Returns make() at the first call of a forward, then the same value in other layers.

        owner: the calling object, so that two schemes of one class keep their values apart. Do not
        keep anything of size (Tq, Tk) here.
        """
        key = (self.tag, owner, *key)
        if key not in self.memo:
            self.memo[key] = make()
        return self.memo[key]

    def at_layer(self, layer: int, x: Tensor) -> "Where":
        return replace(self, layer=layer, x=x)

    def to(self, device: torch.device) -> "Where":
        q = self.q.to(device)
        k = q if self.k is self.q else self.k.to(device)
        left_out = None if self.left_out is None else self.left_out.to(device)
        i = self.i.to(device)
        j = self.j.to(device)
        return replace(self, q=q, k=k, i=i, j=j, left_out=left_out)

    def block(self, start: int, stop: int) -> "Where":
        """Returns query rows start:stop against the keys that they may see."""
        rows = slice(start, stop)
        keys = slice(0, stop if self.causal else None)
        q = self.q[rows]
        i = self.i[rows]
        k = self.k[keys]
        j = self.j[keys]
        tag = (*self.tag, start, stop)
        return replace(self, q=q, i=i, k=k, j=j, tag=tag)

    def moved(self, q: Tensor, k: Tensor, owner: object) -> "Where":
        """Returns the same tokens at other coordinates; `owner` keeps what `once` holds apart."""
        tag = (*self.tag, owner)
        return replace(self, q=q, k=k, spacing=None, tag=tag)


def whole_steps(distance: Tensor) -> Tensor:
    """Returns floor(distance) as int64; 1e-6 keeps 2.9999999 from becoming 2."""
    return torch.floor(distance + 1e-6).long()


def even_spacing(t: Tensor) -> float | None:
    """Returns the distance of neighbouring coordinates; None unless all are equal (to 1e-9)."""
    if t.numel() < 2:
        return 1.0
    steps = t.diff()
    mean = float(t[-1] - t[0]) / len(steps)
    apart = float((steps - mean).abs().max())
    rounding = 1e-9 * max(abs(mean), 1e-300)
    return mean if apart <= rounding else None
