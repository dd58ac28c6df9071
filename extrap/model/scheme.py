"""The seam: one hook per stage of attention. The base class is NoPE, position plays no part in it.

    s = temperature * score + distance_bias + bias;   not visible -> -inf
    a = normalise(s), which is softmax over (s, sink);   o = gate(mix(a, v))

A positional scheme overrides the hooks at which it acts, and nothing else. The kernel that computes
attention follows from which hooks are overridden (attention.py); `attend` is the whole-matrix
definition every kernel is tested against.

Shapes in annotations: B batch, T tokens, of which Tq ask and Tk are asked, C width, H heads, G
heads of keys and values (H where none are shared), D channels of a head, E those of a rotated one.
An axis with `#` may be 1; `...` are any axes.
"""

from __future__ import annotations  # shapes are text for people and tests, never imported

import operator
import re
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, Literal

import torch
from annotated_types import Le
from torch import Tensor, nn

from extrap.model.where import OutOfRange, Where, even_spacing, whole_steps

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Float64

__all__ = [
    "HOOKS",
    "Hook",
    "OutOfRange",
    "Scheme",
    "Shape",
    "Size",
    "Where",
    "attend_rows",
    "centred_bias",
    "even_spacing",
    "layer_of",
    "logits",
    "one_edit_apart",
    "product",
    "softmax",
    "weights",
    "whole_steps",
    "wide",
]


Size = Annotated[int, Le(2**22)]
"""How many entries a table of a scheme may have: a mistyped number must not fill the memory."""


@dataclass(frozen=True)
class Shape:
    """What a scheme is built for: width C, heads H, layers, training length L in tokens,
    vocabulary, norm of the GPT; heads of keys and values and channels D of a head where they are
    not H and C / H.
    """

    dim: int
    heads: int
    layers: int = 1
    length: int = 64
    vocab: int = 256
    norm: str = "rms"
    kv_heads: int | None = None
    head_width: int | None = None

    @property
    def head_dim(self) -> int:
        """D."""
        return self.head_width or self.dim // self.heads

    def fill_width(self, who: str) -> None:
        """Raises ValueError unless the heads make up the width C, which a scheme with vectors or
        matrices of its own for queries and keys splits among them.
        """
        if self.head_dim * self.heads != self.dim:
            raise ValueError(
                f"{who} splits the width among the heads; {self.heads} heads of model.head_dim="
                f"{self.head_dim} are not model.dim={self.dim}; give model.head_dim=null"
            )

    def own_keys(self, who: str) -> None:
        """Raises ValueError unless every head has keys of its own."""
        if self.kv_heads not in (None, self.heads):
            raise ValueError(
                f"{who} adds to the keys of every head; model.kv_heads={self.kv_heads} shares keys "
                f"among {self.heads} heads; give model.kv_heads=null"
            )


@dataclass(frozen=True)
class Hook:
    """Where a hook acts, in words, and how the parts of a stack meet in it.

    meet: `chain`, each part is handed what the part before it returned; `owner`, at most one part
    overrides it; or a function that joins the values of two parts, of which None is none.
    inside: whether it is part of attention, so that an owner of `attend` leaves no place for it.
    """

    acts_at: str
    meet: Literal["chain", "owner"] | Callable[[Any, Any], Any]
    inside: bool = True


HOOKS = {
    "positions": Hook("coordinates", "chain", inside=False),
    "embed": Hook("embedding", "chain", inside=False),
    "rotate": Hook("queries, keys", "chain"),
    "sees": Hook("mask", operator.and_),
    "temperature": Hook("temperature", operator.mul),
    "score": Hook("score", "owner"),
    "distance_bias": Hook("bias of distance", operator.add),
    "bias": Hook("bias", operator.add),
    "sink": Hook("sink", "owner"),
    "normalise": Hook("weights", "owner"),
    "mix": Hook("weights, values", "owner"),
    "gate": Hook("output", "chain", inside=False),
    "attend": Hook("attention", "owner", inside=False),
}
"""Every hook of a Scheme, in the order in which they act. Stacks, wrappers and tables follow this.
"""


class Scheme(nn.Module):
    """One object for all layers; sharing across layers is the absence of a leading `layers` axis in
    its parameters. Every hook does nothing until a subclass overrides it.
    """

    limit: float = inf
    """Coordinates must stay below; finite only where a scheme owns a finite table without a policy
    for what lies past it.
    """

    by_phase = False
    """Whether `rotate` turns pairs of channels; a second part that does would turn them twice."""
    widens = False
    """Whether `rotate` returns queries and keys of more than D channels."""
    looks_ahead = False
    """Whether logits of a token depend on later ones: then only the last of a text are sound."""
    own_vectors = False
    """Whether `rotate` or `bias` meets queries or keys with learned vectors of D channels."""

    def __init_subclass__(cls, **more: Any) -> None:
        """Raises TypeError for a misspelt hook, and for a card that promises a hook where the class
        overrides none: either would train NoPE under the name of the class.
        """
        super().__init_subclass__(**more)
        for name, value in vars(cls).items():
            if name.startswith("_") or not callable(value) or hasattr(Scheme, name):
                continue
            if near := next((hook for hook in HOOKS if one_edit_apart(name, hook)), None):
                raise TypeError(
                    f"{cls.__name__}.{name}: one edit away from the hook {near}, and no hook; "
                    f"rename it to {near}, or to something else"
                )
        kind = re.search(r"^ *Kind: (\w+)", vars(cls).get("__doc__") or "", re.MULTILINE)
        acts = any(getattr(cls, name) is not getattr(Scheme, name) for name in (*HOOKS, "scale"))
        if kind and kind[1] != "none" and not acts:
            raise TypeError(
                f"{cls.__name__}: Kind: {kind[1]}, and overrides no hook, so it is NoPE; override "
                f"one of {', '.join(HOOKS)}, or say Kind: none"
            )

    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape

    @property
    def scale(self) -> float:
        """Factor on <q, k>; hooks use at.scale, the one in force in the whole stack."""
        return self.shape.head_dim**-0.5

    def positions(self, t: Float64[Tensor, "T"]) -> Float64[Tensor, "T"]:
        """Coordinates -> coordinates, once per forward."""
        return t

    def embed(self, x: Float[Tensor, "B T C"], at: Where) -> Float[Tensor, "B T C"]:
        """Called before every layer; at layer 0, x is the token embedding."""
        return x

    def rotate(
        self, q: Float[Tensor, "B H Tq D"], k: Float[Tensor, "B G Tk D"], at: Where
    ) -> tuple[Float[Tensor, "B H Tq E"], Float[Tensor, "B G Tk E"]]:
        """Sees the whole length: nothing of size (T, T) may be touched."""
        return q, k

    def sees(self, at: Where) -> Bool[Tensor, "Tq Tk"] | None:
        """What stays visible. A mask is never a bias of -inf: counts, gates and log-n must know
        it.
        """
        return None

    def temperature(self, at: Where) -> Float[Tensor, "... #Tq 1"] | None:
        """Factor on the score; biases are never heated."""
        return None

    def score(
        self, q: Float[Tensor, "B H Tq E"], k: Float[Tensor, "B H Tk E"], at: Where
    ) -> Float[Tensor, "B H Tq Tk"]:
        """Content logits of rotated q, k: <q_i, k_j> * scale, in float32 at least, because a
        temperature magnifies their rounding.
        """
        return product(q, k) * at.scale

    def distance_bias(self, d: Float[Tensor, "*d"], layer: int) -> Float[Tensor, "#H *d"] | None:
        """Added logits that depend on nothing but the distance d >= 0 (any shape), elementwise."""
        return None

    def bias(
        self, q: Float[Tensor, "B H Tq E"], k: Float[Tensor, "B H Tk E"], at: Where
    ) -> Float[Tensor, "... #Tq #Tk"] | None:
        """Added logits, broadcastable to (B, H, Tq, Tk), that depend on content or order. q, k are
        rotated, not heated.
        """
        return None

    def sink(self, at: Where) -> Float[Tensor, "H"] | None:
        """Logit of one more key whose value is zero: attention may go nowhere. 0 is softmax_1,
        None softmax.
        """
        return None

    def normalise(self, s: Float[Tensor, "B H Tq Tk"], at: Where) -> Float[Tensor, "B H Tq Tk"]:
        """Logits, -inf where nothing is visible -> weights >= 0, 0 there."""
        return softmax(s, self.sink(at))

    def mix(
        self, a: Float[Tensor, "B H Tq Tk"], v: Float[Tensor, "B H Tk D"], at: Where
    ) -> Float[Tensor, "B H Tq D"]:
        """Weights and values -> output; linear in both."""
        return a @ v

    def gate(self, o: Float[Tensor, "B H Tq D"], at: Where) -> Float[Tensor, "B H Tq D"]:
        """Output of attention -> the same shape, whatever kernel made it."""
        return o

    def attend(
        self,
        q: Float[Tensor, "B H Tq D"],
        k: Float[Tensor, "B H Tk D"],
        v: Float[Tensor, "B H Tk D"],
        at: Where,
    ) -> Float[Tensor, "B H Tq D"]:
        """The definition up to the gate, all rows at once. Overriding it means owning attention
        altogether.
        """
        q, k = self.rotate(q, k, at)
        return attend_rows(self, q, k, v, at)

    def uses(self, *hooks: str, layer: int | None = None) -> bool:
        """Whether any of these hooks is overridden: in this layer, or in any where
        layer is None.
        """
        return any(getattr(type(self), hook) is not getattr(Scheme, hook) for hook in hooks)


def one_edit_apart(a: str, b: str) -> bool:
    """True if one letter more, less or changed, or two neighbours swapped, makes b of a."""
    if a == b or abs(len(a) - len(b)) > 1:
        return False
    first = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
    if first is None:
        return True
    x, y = a[first:], b[first:]
    swapped = len(x) > 1 and x[1::-1] + x[2:] == y
    return x[1:] == y[1:] or x[1:] == y or x == y[1:] or swapped


def layer_of(*args: Any) -> int | None:
    """The layer that a hook is called for, by its last argument; None for `positions`."""
    last = args[-1]
    return last.layer if isinstance(last, Where) else last if isinstance(last, int) else None


def attend_rows(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
    """The formula of this page for query rows and keys that are rotated already."""
    return scheme.mix(weights(scheme, q, k, at).to(v.dtype), v, at)


def weights(scheme: Scheme, q: Tensor, k: Tensor, at: Where) -> Tensor:
    """(B, H, Tq, Tk): a of this page; rows of a softmax sum to 1, or to less beside a sink."""
    return scheme.normalise(logits(scheme, q, k, at), at)


def logits(scheme: Scheme, q: Tensor, k: Tensor, at: Where) -> Tensor:
    """(B, H, Tq, Tk): s of this page for query rows and keys that are rotated already, -inf where
    nothing is visible.
    """
    s = wide(scheme.score(q, k, at))
    if (c := scheme.temperature(at)) is not None:
        s = s * c.to(s.dtype)
    for b in (centred_bias(scheme, at.distance, at.layer), scheme.bias(q, k, at)):
        if b is not None:
            s = s + b.to(s.dtype)
    return s.masked_fill(~at.visible, -inf)


def centred_bias(scheme: Scheme, d: Tensor, layer: int) -> Tensor | None:
    """(H, *d.shape): distance_bias minus its value at distance 0, in float32 at least.

    Softmax does not see the difference, and a cast to 16 bits keeps more of what it does see.
    Beside a sink it would, so there the bias stays as it is, and under other ways to normalise.
    """
    b = scheme.distance_bias(d, layer)
    if b is None or scheme.uses("sink", "normalise", layer=layer):
        return b
    zero = scheme.distance_bias(d.new_zeros(1), layer)
    return b if zero is None else wide(b) - wide(zero).view(-1, *[1] * d.dim())


def wide(x: Tensor) -> Tensor:
    """x in float32 at least."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def product(q: Tensor, k: Tensor) -> Tensor:
    """q k^T in float32 at least, inside autocast as well."""
    device = q.device.type
    off = torch.autocast(device, enabled=False) if torch.amp.is_autocast_available(device) else None
    with off or nullcontext():
        return wide(q) @ wide(k).transpose(-1, -2)


def softmax(s: Tensor, sink: Tensor | None) -> Tensor:
    """exp(s_j) / (exp(sink) + sum exp(s)) over the last axis, in float32 at least; without a sink
    the plain softmax.

    sink = 0 is softmax_1, https://www.evanmiller.org/attention-is-off-by-one.html.
    """
    s = wide(s)
    if sink is None:
        return s.softmax(-1)
    nowhere = sink.to(s.dtype)[:, None, None].expand(*s.shape[:-1], 1)
    return torch.cat([nowhere, s], -1).softmax(-1)[..., 1:]
