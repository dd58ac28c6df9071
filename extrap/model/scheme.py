"""The seam: one hook per stage of attention. The base class is NoPE, position plays no part in it.

    s = temperature * score + distance_bias + bias;    not visible -> -inf;    a = softmax over (s, sink);    o = mix(a, v)

A positional scheme overrides the hooks at which it acts, and nothing else. The kernel that computes attention follows from
which hooks are overridden (attention.py); `attend` is the whole-matrix definition every kernel is tested against.
"""

from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor, nn

from extrap.model.where import OutOfRange, Where, even_spacing, whole_steps

__all__ = ["OutOfRange", "Scheme", "Shape", "Where", "attend_rows", "even_spacing", "logits", "softmax", "weights", "whole_steps"]


@dataclass(frozen=True)
class Shape:
    """What a scheme is built for: width C, heads H, layers, training length L in tokens, vocabulary, norm of the GPT."""

    dim: int
    heads: int
    layers: int = 1
    length: int = 64
    vocab: int = 256
    norm: str = "rms"

    @property
    def head_dim(self) -> int:
        return self.dim // self.heads


class Scheme(nn.Module):
    """One object serves all layers; sharing across layers is the absence of a leading `layers` axis in its parameters.

    Parts of a stack meet like this: positions, embed and rotate fold in order; distance_bias and bias add; temperature
    multiplies; sees is the logical and; score, sink, mix, attend and a scale other than D**-0.5 have one owner.
    """

    limit: float = inf
    """Coordinates must stay below; finite only where a scheme owns a finite table without a policy for what lies past it."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape

    @property
    def scale(self) -> float:
        """Factor on <q, k>; hooks use at.scale, the one in force in the whole stack."""
        return self.shape.head_dim**-0.5

    def positions(self, t: Tensor) -> Tensor:
        """(T,) float64 coordinates -> (T,) float64 coordinates, once per forward."""
        return t

    def embed(self, x: Tensor, at: Where) -> Tensor:
        """(B, T, C) -> (B, T, C), called before every layer; at layer 0, x is the token embedding."""
        return x

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        """(B, H, Tq, D), (B, H, Tk, D) -> the same shapes. Sees the whole length: nothing of size (T, T) may be touched."""
        return q, k

    def sees(self, at: Where) -> Tensor | None:
        """(Tq, Tk) bool of what stays visible. A mask is never a bias of -inf: counts, gates and log-n must know it."""
        return None

    def temperature(self, at: Where) -> Tensor | None:
        """(..., Tq, 1) factor on the score; biases are never heated."""
        return None

    def score(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        """(B, H, Tq, Tk) content logits of rotated q, k: <q_i, k_j> * scale."""
        return q @ k.transpose(-1, -2) * at.scale

    def distance_bias(self, d: Tensor, layer: int) -> Tensor | None:
        """(H, *d.shape): added logits that depend on nothing but the distance d >= 0 (any shape), elementwise."""
        return None

    def bias(self, q: Tensor, k: Tensor, at: Where) -> Tensor | None:
        """Added logits, broadcastable to (B, H, Tq, Tk), that depend on content or order. q, k are rotated, not heated."""
        return None

    def sink(self, at: Where) -> Tensor | None:
        """(H,) logit of one more key whose value is zero: attention may go nowhere. 0 is softmax_1, None softmax."""
        return None

    def mix(self, a: Tensor, v: Tensor, at: Where) -> Tensor:
        """(B, H, Tq, D) from weights (B, H, Tq, Tk) and values (B, H, Tk, D); linear in both."""
        return a @ v

    def attend(self, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
        """(B, H, T, D): the definition, all rows at once. Overriding it means owning attention altogether."""
        q, k = self.rotate(q, k, at)
        return attend_rows(self, q, k, v, at)

    def uses(self, *hooks: str) -> bool:
        """Whether any of these hooks is overridden."""
        return any(getattr(type(self), hook) is not getattr(Scheme, hook) for hook in hooks)


def attend_rows(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
    """The formula of this page for query rows and keys that are rotated already."""
    return scheme.mix(weights(scheme, q, k, at).to(v.dtype), v, at)


def weights(scheme: Scheme, q: Tensor, k: Tensor, at: Where) -> Tensor:
    """(B, H, Tq, Tk): a of this page; rows sum to 1, or to less beside a sink."""
    return softmax(logits(scheme, q, k, at), scheme.sink(at))


def logits(scheme: Scheme, q: Tensor, k: Tensor, at: Where) -> Tensor:
    """(B, H, Tq, Tk): s of this page for query rows and keys that are rotated already, -inf where nothing is visible."""
    s = scheme.score(q, k, at)
    if (c := scheme.temperature(at)) is not None:
        s = s * c.to(s.dtype)
    if (b := scheme.distance_bias(at.distance, at.layer)) is not None:
        s = s + b.to(s.dtype)
    if (b := scheme.bias(q, k, at)) is not None:
        s = s + b.to(s.dtype)
    return s.masked_fill(~at.visible, -inf)


def softmax(s: Tensor, sink: Tensor | None) -> Tensor:
    """exp(s_j) / (exp(sink) + sum exp(s)) over the last axis, in float32 at least; without a sink the plain softmax.

    sink = 0 is softmax_1, https://www.evanmiller.org/attention-is-off-by-one.html.
    """
    s = s.float() if s.dtype in (torch.float16, torch.bfloat16) else s
    if sink is None:
        return s.softmax(-1)
    nowhere = sink.to(s.dtype)[:, None, None].expand(*s.shape[:-1], 1)
    return torch.cat([nowhere, s], -1).softmax(-1)[..., 1:]
