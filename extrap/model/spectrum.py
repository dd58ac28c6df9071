"""The frequencies of pairs of channels: extensions read them, change them on a copy, and report
them.

Every scheme with a `spectrum` and a `base` takes part: the RoPE family, RoPE on values, RoPE in
linear attention. A change is a function in front of that method on one object; classes stay as they
are, so that a scheme loses nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import pi
from typing import Any, cast

import torch
from torch import Tensor

from extrap.model.parts import parts
from extrap.model.scheme import Scheme, even_spacing


@dataclass(frozen=True)
class Pairs:
    """Pairs as trained.

    Args:
        theta: (P,) frequencies, float64, radians per unit of coordinate
        base: of their grid
        length: L
    """

    theta: Tensor
    base: float
    length: int

    @property
    def width(self) -> int:
        """d: channels of one grid theta_p = base**(-2p/d); several axes have a grid each."""
        theta = self.theta
        grids = 1
        if theta.any():
            grids = int((theta == theta[0]).sum())
        return 2 * len(theta) // max(1, grids)

    @property
    def index(self) -> Tensor:
        """(P,) p, counted from 0 in each grid."""
        p = torch.arange(len(self.theta), device=self.theta.device)
        grid = self.width // 2
        return (p % grid).double()

    @property
    def turns(self) -> Tensor:
        """(P,) r_p = L theta_p / (2 pi): full turns within the training length."""
        return self.length * self.theta / (2 * pi)


Change = Callable[[Pairs, int], Tensor]
"""(pairs as trained, tokens of the forward) -> theta' (P,)."""


def pairs(part: Scheme) -> Pairs:
    """Returns the pairs that a single part turns, as they are within the training length."""
    turning = cast(Any, part)
    L = part.shape.length
    return Pairs(turning.spectrum(L), turning.base, L)


def turns_pairs(part: Scheme) -> bool:
    """True if a single part has a spectrum and not all of it stands still."""
    theta = part.spectrum(part.shape.length)
    return theta is not None and bool(theta.any())


def still(scheme: Scheme) -> str:
    """Explains why a scheme has no frequencies to change (for messages)."""
    inside = " by frequencies that can be reached" * scheme.uses("rotate")
    return f"no channels turn there{inside}"


def respectrum(part: Scheme, change: Change) -> Scheme:
    """Changes the frequencies of the part itself from now on, and returns it; for copies only."""
    turning = cast(Any, part)
    L = part.shape.length
    turning.spectrum = partial(_changed, change, turning.spectrum, turning.base, L)
    return part


def _changed(
    change: Change, spectrum: Callable[[int], Tensor], base: float, length: int, n: int
) -> Tensor:
    trained = Pairs(spectrum(n), base, length)
    return change(trained, n)


def turning_layers(scheme: Scheme) -> set[int]:
    """Returns the layers in which something turns pairs of channels."""
    layers = range(scheme.shape.layers)
    return {n for n in layers if any(map(turns_pairs, parts(scheme, n)))}


def stretched_parts(scheme: Scheme, n: int, layer: int | None) -> list[tuple[Scheme, float | None]]:
    """Returns the single parts of a scheme in one layer, or anywhere, each with the factor on the
    distances that it sees (Scheme.stretch), apart from coordinates.
    """
    if not (inner := scheme.inner(layer)):
        return [(scheme, 1.0)]
    own = scheme.stretch(n)
    found = []
    for one in inner:
        for part, stretch in stretched_parts(one, n, layer):
            if own is None or stretch is None:
                found.append((part, None))
            else:
                found.append((part, own * stretch))
    return found


def frequencies_used(scheme: Scheme, n: int, layer: int | None = None) -> Tensor | None:
    """Returns theta (P,) of a forward of n tokens, in radians per token; the pairs of several parts
    one after the other. layer: in that layer; None: of all parts.

    Coordinates that move by 1/s per token, and distances divided by s, count as slower pairs. Under
    a map of distances (ReRoPE) pairs count as they turn between near tokens. None if nothing turns,
    or if coordinates are not evenly spaced.
    """
    step = spacing(scheme, n)
    turning = []
    for part, stretch in stretched_parts(scheme, n, layer):
        if turns_pairs(part):
            theta = cast(Tensor, part.spectrum(n))
            turning.append(theta * (1.0 if stretch is None else stretch))
    if not turning or step is None:
        return None
    return torch.cat(turning) * step


def spacing(scheme: Scheme, n: int) -> float | None:
    """Returns the step of coordinates between tokens in a forward of n; None if steps differ."""
    t = torch.arange(n, dtype=torch.float64)
    return even_spacing(scheme.positions(t))


def draws_positions(scheme: Scheme) -> bool:
    """True if a scheme, in the mode that it is in, takes no notice of the coordinates it is given:
    L tokens at three times their coordinates lie where they lay.
    """
    t = torch.arange(scheme.shape.length, dtype=torch.float64)
    laid = []
    with torch.random.fork_rng(devices=[]):
        for given in (t, 3 * t):
            torch.default_generator.manual_seed(0)  # of the CPU alone
            laid.append(scheme.positions(given))
    return len(t) > 1 and torch.equal(*laid)


@torch.no_grad()
def biases_used(scheme: Scheme, d: Tensor, n: int, layer: int) -> Tensor | None:
    """Returns the logits (H, *d) that biases of distance add in one layer at d tokens, in a forward
    of n; None without such a bias, or if pairs have different factors on their distances.
    """
    step = spacing(scheme, n)
    total = None
    for part, stretch in stretched_parts(scheme, n, layer):
        if not part.uses("distance_bias", layer=layer):
            continue
        if step is None or stretch is None:
            return None
        bias = part.distance_bias(d * step * stretch, layer)
        if bias is None:
            continue
        if total is None:
            total = bias.double()
        else:
            total = total + bias.double()
    return total


def turns(scheme: Scheme, n: int) -> Tensor | None:
    """Returns n theta / (2 pi) (P,): full turns of each pair within a forward of n tokens."""
    theta = frequencies_used(scheme, n)
    if theta is None:
        return None
    return n * theta / (2 * pi)
