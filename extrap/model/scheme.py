"""The seam: one hook per stage of attention. The base class is NoPE: position plays no part in it.

    s = temperature * score + distance_bias + bias;   -inf where a pair is not visible
    a = normalise(s), a softmax over (s, sink);   o = gate(mix(a, v))

A positional scheme overrides the hooks at which it acts, and nothing else. The overridden hooks
decide which kernel computes attention (attention.py). `attend` is the definition over the whole
matrix; tests compare every kernel with it.

Shapes in annotations: B batch, T tokens, Tq queries, Tk keys, C width, H heads, G heads of keys and
values (H unless heads share them), D channels of a head, E channels of a rotated head. An axis with
`#` may be 1; `...` stands for any axes.
"""

from __future__ import annotations  # shapes are text for people and tests, never imported

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor, nn

from extrap.model.functional import product, softmax, wide
from extrap.model.shape import Pairs, Shape, Size
from extrap.model.where import Where, even_spacing, whole_steps
from extrap.utils.docs import own_docstring
from extrap.utils.errors import OutOfRange, one_edit_apart

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Float64

__all__ = ["OutOfRange", "Pairs", "Shape", "Size", "Where", "even_spacing", "product", "softmax"]
__all__ += ["whole_steps", "wide"]


@dataclass(frozen=True)
class Hook:
    """Where a hook acts, in words, and how the parts of a stack meet in it.

    meet: `chain` hands each part what the part before it returned; `owner` allows one part that
    overrides the hook; a function joins the values of two parts, leaving out None.
    inside: whether the hook is part of attention, which a part that owns `attend` computes alone.
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
"""Every hook of a Scheme, in the order in which they act. Stacks, wrappers and tables follow it."""


class Scheme(nn.Module):
    """One object for all layers; layers share parameters that have no leading `layers` axis. Every
    hook does nothing until a subclass overrides it.
    """

    limit: float = inf
    """Coordinates must stay below; finite only if a scheme owns a finite table without a policy for
    the positions past it.
    """

    causal_only = False
    """Whether attention has no form without the causal mask."""
    own_keys = False
    """Whether every head needs keys of its own; the constructor refuses shared ones."""
    full_width = False
    """Whether the heads must make up the width C; the constructor refuses other shapes."""
    by_phase = False
    """Whether `rotate` turns pairs of channels; a second part that does would turn them twice."""
    widens = False
    """Whether `rotate` returns queries and keys of more than D channels."""
    own_vectors = False
    """Whether `rotate` or `bias` meets queries or keys with learned vectors of D channels."""
    looks_ahead = False
    """Whether logits of a token depend on later ones: only the last logits of a text are sound."""
    symbols: int | None = None
    """How many ids at the end of the vocabulary it takes for values; None if it reads no ids."""
    sealed = False
    """Whether a scheme around another counts as one part, whose card speaks for both."""

    def __init_subclass__(cls, **more: Any) -> None:
        """Raises TypeError for a misspelt hook or flag, and for a card that promises a hook if the
        class overrides none: either would train NoPE under the name of the class.
        """
        super().__init_subclass__(**more)
        for name in vars(cls):
            if hasattr(Scheme, name) or name.startswith("_"):
                continue
            for near in vars(Scheme):
                if one_edit_apart(name, near):
                    raise TypeError(
                        f"{cls.__name__}.{name}: one edit away from {near}, which a scheme has; "
                        f"rename it to {near}, or to something else"
                    )
        kind = re.search(r"^ *Kind: (\w+)", own_docstring(cls), re.MULTILINE)
        overridable = (*HOOKS, "scale")
        acts = any(getattr(cls, name) is not getattr(Scheme, name) for name in overridable)
        if kind and kind[1] != "none" and not acts:
            raise TypeError(
                f"{cls.__name__}: Kind: {kind[1]}, and overrides no hook, so it is NoPE; override "
                f"one of {', '.join(HOOKS)}, or say Kind: none"
            )

    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        who = type(self).__name__
        heads = shape.heads
        if self.full_width and shape.head_dim * heads != shape.dim:
            raise ValueError(
                f"{who} splits the width among the heads; {heads} heads of model.head_dim="
                f"{shape.head_dim} are not model.dim={shape.dim}; give model.head_dim=null"
            )
        if self.own_keys and shape.kv_heads not in (None, heads):
            raise ValueError(
                f"{who} adds to the keys of every head; model.kv_heads={shape.kv_heads} shares "
                f"keys among {heads} heads; give model.kv_heads=null"
            )

    @property
    def scale(self) -> float:
        """Factor on <q, k>; hooks use at.scale, the factor of the whole stack."""
        return self.shape.head_dim**-0.5

    def inner(self, layer: int | None = None) -> list[Scheme]:
        """The schemes that this one is made of, in one layer or anywhere; [] for a single part."""
        return []

    def mapped(self, change: Callable[[Scheme], Scheme]) -> Scheme:
        """Returns this scheme with change(part) in place of every single part. Stacks are built
        anew and raise ValueError for parts that do not go together.
        """
        return change(self)

    def spectrum(self, n: int) -> Tensor | None:
        """theta (P,), float64: radians by which each pair turns per unit of the coordinate, in a
        forward of n tokens; extensions change it. None if nothing turns by frequencies. A scheme
        that has one also has `base`, of their grid.
        """
        return None

    def stretch(self, n: int) -> float | None:
        """Factor on distances that inner schemes see at n tokens; None if it differs by pair."""
        return 1.0

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
        """Pairs that stay visible. A mask is never a bias of -inf: counts, gates and log-n must
        know it.
        """
        return None

    def temperature(self, at: Where) -> Float[Tensor, "... #Tq 1"] | None:
        """Factor on the score; it never heats a bias."""
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
        """Added logits, broadcastable to (B, H, Tq, Tk), that depend on content or order; q and k
        come rotated, not heated.
        """
        return None

    def sink(self, at: Where) -> Float[Tensor, "H"] | None:
        """Logit of one more key of value zero, by which attention may go nowhere. 0 is softmax_1,
        None softmax.
        """
        return None

    def normalise(self, s: Float[Tensor, "B H Tq Tk"], at: Where) -> Float[Tensor, "B H Tq Tk"]:
        """Logits, -inf for hidden pairs -> weights >= 0, which are 0 there."""
        return softmax(s, self.sink(at))

    def mix(
        self, a: Float[Tensor, "B H Tq Tk"], v: Float[Tensor, "B H Tk D"], at: Where
    ) -> Float[Tensor, "B H Tq D"]:
        """Weights and values -> output; linear in the weights but for a constant, the output of
        weights that are all 0.
        """
        return a @ v

    def gate(self, o: Float[Tensor, "B H Tq D"], at: Where) -> Float[Tensor, "B H Tq D"]:
        """Output of attention, by whatever kernel -> the same shape."""
        return o

    def attend(
        self,
        q: Float[Tensor, "B H Tq D"],
        k: Float[Tensor, "B H Tk D"],
        v: Float[Tensor, "B H Tk D"],
        at: Where,
    ) -> Float[Tensor, "B H Tq D"]:
        """The definition up to the gate, all rows at once. A scheme that overrides it owns
        attention altogether.
        """
        q, k = self.rotate(q, k, at)
        return attend_rows(self, q, k, v, at)

    def uses(self, *hooks: str, layer: int | None = None) -> bool:
        """True if the scheme overrides any of these hooks in this layer, or, with None, in any."""
        return any(getattr(type(self), hook) is not getattr(Scheme, hook) for hook in hooks)


def place(scheme: Scheme, t: Tensor, **more: Any) -> Where:
    """Returns the context of a whole forward at coordinates t (T,), with the mask of the scheme."""
    sees = scheme.sees if scheme.uses("sees") else None
    return Where.whole(t, scheme.scale, sees=sees, **more)


def layer_of(*args: Any) -> int | None:
    """Returns the layer of a call of a hook, from its last argument; None for `positions`."""
    last = args[-1]
    if isinstance(last, Where):
        return last.layer
    return last if isinstance(last, int) else None


def attend_rows(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
    """Returns the output of this page's formula for rotated query rows and keys."""
    a = weights(scheme, q, k, at).to(v.dtype)
    return scheme.mix(a, v, at)


def attention_weights(scheme: Scheme, q: Tensor, k: Tensor, at: Where) -> Tensor:
    """Returns (B, H, T, T): the weights of queries and keys that are not rotated yet, by the
    definition. A scheme that owns attention is linear in the values: its weights are its output for
    the rows of an identity.
    """
    if scheme.uses("attend", layer=at.layer):
        one = torch.eye(at.length, dtype=q.dtype, device=q.device)
        rows = one.expand(*q.shape[:2], -1, -1)
        return scheme.attend(q, k, rows, at)
    q, k = scheme.rotate(q, k, at)
    return weights(scheme, q, k, at)


def weights(scheme: Scheme, q: Tensor, k: Tensor, at: Where) -> Tensor:
    """Returns a (B, H, Tq, Tk) of this page for rotated queries and keys."""
    return scheme.normalise(logits(scheme, q, k, at), at)


def logits(scheme: Scheme, q: Tensor, k: Tensor, at: Where) -> Tensor:
    """Returns s (B, H, Tq, Tk) of this page for rotated queries and keys; -inf for hidden pairs."""
    s = wide(scheme.score(q, k, at))
    if (c := scheme.temperature(at)) is not None:
        s = s * c.to(s.dtype)
    of_distance = centred_bias(scheme, at.distance, at.layer)
    of_content = scheme.bias(q, k, at)
    for b in (of_distance, of_content):
        if b is not None:
            s = s + b.to(s.dtype)
    return s.masked_fill(~at.visible, -inf)


def centred_bias(scheme: Scheme, d: Tensor, layer: int) -> Tensor | None:
    """Returns distance_bias minus its value at distance 0, (H, *d.shape), in float32 at least.

    A softmax does not see the constant, and a cast to 16 bits then keeps more of the rest. A sink
    and other normalisers would see it: under these the bias stays as it is.
    """
    b = scheme.distance_bias(d, layer)
    if b is None or scheme.uses("sink", "normalise", layer=layer):
        return b
    zero = scheme.distance_bias(d.new_zeros(1), layer)
    if zero is None:
        return b
    constant = wide(zero).view(-1, *[1] * d.dim())
    return wide(b) - constant
