"""The frequencies of the pairs that turn, as extensions see them: read, changed on a copy, and
logged.

Whatever has `spectrum(n) -> theta (P,)` and `base` takes part: the RoPE family, RoPE on values,
RoPE in linear attention. A change is a function in front of that method on one object; classes stay
as they are, so nothing else of a scheme is lost.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import pi
from typing import Protocol, cast, runtime_checkable

import torch
from torch import Tensor

from extrap.model.scheme import Scheme, even_spacing
from extrap.model.stack import Stack, parts_in_layer
from extrap.model.wrapper import Wrapper


@dataclass(frozen=True)
class Pairs:
    """theta (P,): frequencies as trained, float64, radians per unit of coordinate; base: of their
    grid; length: trained on, L.
    """

    theta: Tensor
    base: float
    length: int

    @property
    def width(self) -> int:
        """d: channels of one grid theta_p = base**(-2p/d). P = d/2, or a multiple where several
        axes have a grid each.
        """
        return (
            2 * len(self.theta) // max(1, int((self.theta == self.theta[0]).sum()))
            if self.theta.any()
            else 2 * len(self.theta)
        )

    @property
    def index(self) -> Tensor:
        """(P,) p, counted from 0 in each grid."""
        return (
            torch.arange(len(self.theta), device=self.theta.device) % (self.width // 2)
        ).double()

    @property
    def turns(self) -> Tensor:
        """(P,) r_p = L theta_p / (2 pi): full circles within the training length; below 1 some
        angles were never trained.
        """
        return self.length * self.theta / (2 * pi)


@runtime_checkable
class Turning(Protocol):
    """A part that turns pairs of channels."""

    base: float

    def spectrum(self, n: int) -> Tensor:
        """theta (P,), float64, in a forward of n tokens."""
        ...


Change = Callable[[Pairs, int], Tensor]
"""(pairs as trained, tokens of the forward) -> theta' (P,)."""


def pairs(part: Scheme) -> Pairs:
    """What a single part turns, as it is now within the training length."""
    turning = cast(Turning, part)
    return Pairs(turning.spectrum(part.shape.length), turning.base, part.shape.length)


def turns_pairs(part: Scheme) -> bool:
    """Whether a single part turns pairs of channels: it has a spectrum and not all of it stands
    still.
    """
    return isinstance(part, Turning) and bool(part.spectrum(part.shape.length).any())


def still(scheme: Scheme) -> str:
    """Words about a scheme in which nothing turns by frequencies: some turn by angles that are made
    of the data, or keep theirs inside.
    """
    inside = " by frequencies that can be reached" * scheme.uses("rotate")
    return f"no channels turn there{inside}"


def respectrum(part: Scheme, change: Change) -> Scheme:
    """The part itself, its frequencies changed from now on; for copies only."""
    turning = cast(Turning, part)
    turning.spectrum = partial(  # pyright: ignore[reportAttributeAccessIssue]
        _changed, change, turning.spectrum, turning.base, part.shape.length
    )
    return part


def _changed(
    change: Change, spectrum: Callable[[int], Tensor], base: float, length: int, n: int
) -> Tensor:
    return change(Pairs(spectrum(n), base, length), n)


def turning_layers(scheme: Scheme) -> set[int]:
    """Layers in which something turns pairs of channels."""
    return {
        layer
        for layer in range(scheme.shape.layers)
        if any(turns_pairs(part) for part in parts_in_layer(scheme, layer))
    }


def stretched_parts(scheme: Scheme, n: int, layer: int | None) -> list[tuple[Scheme, float | None]]:
    """The single parts of a scheme in one layer, or wherever they act, each with what distances are
    to it (Wrapper.stretch), apart from what coordinates do.
    """
    if isinstance(scheme, Stack):
        return [one for part in scheme.parts for one in stretched_parts(part, n, layer)]
    if not isinstance(scheme, Wrapper):
        return [(scheme, 1.0)]
    within = scheme.inside if layer is None else scheme.in_layer(layer)
    own, inner = scheme.stretch(n), stretched_parts(within, n, layer)
    return [
        (part, None if own is None or stretch is None else own * stretch) for part, stretch in inner
    ]


def frequencies_used(scheme: Scheme, n: int, layer: int | None = None) -> Tensor | None:
    """(P,) theta in radians per token, in force in a forward of n tokens; the pairs of several
    parts one after the other. layer: in that layer; None: of all parts, wherever they act.

    Coordinates that move by 1/s per token, and distances that are divided by s, count as slower
    pairs; under a map of distances (ReRoPE) pairs count as they turn near by. None where nothing
    turns, or coordinates are not evenly spaced.
    """
    step = spacing(scheme, n)
    turning = [
        cast(Turning, part).spectrum(n) * (1.0 if stretch is None else stretch)
        for part, stretch in stretched_parts(scheme, n, layer)
        if turns_pairs(part)
    ]
    return torch.cat(turning) * step if turning and step is not None else None


def spacing(scheme: Scheme, n: int) -> float | None:
    """Coordinates from one token to the next in a forward of n; None where they are not even."""
    return even_spacing(scheme.positions(torch.arange(n, dtype=torch.float64)))


@torch.no_grad()
def biases_used(scheme: Scheme, d: Tensor, n: int, layer: int) -> Tensor | None:
    """(H, *d): the logits that biases of the distance add in one layer at d tokens, in a forward of
    n; None where there are none, or distances are not the same multiple for all pairs.
    """
    step, total = spacing(scheme, n), None
    for part, stretch in stretched_parts(scheme, n, layer):
        if not part.uses("distance_bias", layer=layer):
            continue
        if step is None or stretch is None:
            return None
        bias = part.distance_bias(d * step * stretch, layer)
        if bias is not None:
            total = bias.double() if total is None else total + bias.double()
    return total


def turns(scheme: Scheme, n: int) -> Tensor | None:
    """(P,) n theta / (2 pi): full circles of each pair within a forward of n tokens."""
    theta = frequencies_used(scheme, n)
    return None if theta is None else n * theta / (2 * pi)
