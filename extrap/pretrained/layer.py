"""What a probe finds in one layer of a transformers model, and the call that turns its channels."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from extrap.pretrained.seam import forgetting

TOKENS = 8
"""Tokens of a probe."""
CLOSE = 1e-4


@dataclass
class Source:
    """A call of a rotary module.

    Args:
        name, module: of the copy, on the CPU
        args, more: its arguments
        tags: of its columns; columns that turn alike share one
    """

    name: str
    module: nn.Module
    args: tuple[Any, ...]
    more: dict[str, Any]
    tags: list[int] = field(default_factory=list)

    def __deepcopy__(self, memo: dict) -> "Source":
        return self

    @torch.no_grad()
    def columns(self, n: int) -> tuple[Tensor, float]:
        """Returns the frequencies of all columns at n tokens, float64, and the amplitude, of a
        module that has read no other length.
        """
        t = torch.tensor([0, 1, n - 1, n - 1, n - 1])

        def placed(x: Any) -> Any:
            whole = isinstance(x, Tensor) and not x.is_floating_point() and not x.is_complex()
            return t.expand(*x.shape[:-1], 5) if whole and x.dim() else x

        given = {name: placed(x) for name, x in self.more.items()}
        with forgetting(self.module):
            z = turns_of(self.module(*map(placed, self.args), **given))
            exact = [b.double() + 0 for b in self.module.buffers() if b.dim() == 1 and len(b)]
        assert z is not None
        tokens = next(d for d in reversed(range(z.dim() - 1)) if z.shape[d] in (5, TOKENS))
        z = z.movedim(tokens, 0)[1].flatten(0, -2)[0]
        theta = z.angle().double()
        for buffer in exact:
            near = buffer[(theta[:, None] - buffer).abs().argmin(-1)]
            theta = torch.where((near - theta).abs() <= 1e-5 * near.abs(), near, theta)
        return theta, float(z.abs().mean())


@dataclass
class Layer:
    """Attention of one layer.

    Args:
        name: of its module
        block: of the layer around it
        heads: H
        groups: G
        width: D
        scale: on <q, k>
        window, chunk: in tokens, and cap: None without

    pairs (P, 2): channels that turn together; source and columns (P,): what turns them.
    """

    name: str
    block: str
    heads: int
    groups: int
    width: int
    scale: float
    window: int | None = None
    chunk: int | None = None
    cap: float | None = None
    sink: bool = False
    pairs: Tensor = field(default_factory=lambda: torch.zeros(0, 2, dtype=torch.long))
    source: Source | None = None
    columns: Tensor | None = None
    louder: bool | None = True
    """Whether a factor on cosine and sine comes through: see Rotary."""
    inputs: list[str] = field(default_factory=list)
    """Matrices that make queries, keys and values."""

    def theta(self, n: int) -> Tensor:
        """Returns the frequencies (P,), float64, of a forward of n tokens."""
        assert self.source is not None
        return self.source.columns(n)[0][self.columns]

    def amplitude(self, n: int) -> float:
        """Returns the factor on cosine and sine in a forward of n tokens."""
        assert self.source is not None
        return self.source.columns(n)[1]

    @property
    def base(self) -> float:
        """The base of the grid of frequencies: from the config, or else from the first two."""
        assert self.source is not None
        rope = getattr(getattr(self.source.module, "config", None), "rope_parameters", None) or {}
        given = (*self.source.args, *self.source.more.values())
        kind = next((x for x in given if isinstance(x, str) and x in rope), None)
        if (found := (rope if kind is None else rope[kind]).get("rope_theta")) is not None:
            return float(found)
        theta = self.theta(2)
        return float((theta[0] / theta[1]) ** len(theta)) if len(theta) > 1 else 1e4


class Unreadable(Exception):
    """The reason why a probe does not understand a model, in words."""


def turns_of(out: Any) -> Tensor | None:
    """Returns the cosine and sine of a rotary module as complex numbers; None for anything else."""
    pair = isinstance(out, tuple | list) and len(out) == 2
    if pair and all(isinstance(x, Tensor) and x.is_floating_point() for x in out):
        out = torch.complex(*(x.float() for x in out)) if out[0].shape == out[1].shape else None
    if not isinstance(out, Tensor) or not out.is_complex() or out.dim() < 2:
        return None
    r = out.abs()
    same = r.min() > 0.1 and (r - r.mean()).abs().max() < CLOSE * r.mean()
    return out if same else None
