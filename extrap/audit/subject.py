"""One scheme under audit: in a small GPT, as constructed and with every parameter drawn anew, and
what its attention is given.

The numbers are those of this shape (L = 64 tokens, 2 layers, 4 heads of 8 channels; 4 layers where
layers differ by a pattern) and of fixed seeds, so that the same scheme is always given the same
answer.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from extrap.model.attention import for_every_head
from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.scheme import OutOfRange, Scheme, Shape, Where, attention_weights, logits, weights
from extrap.model.stack import Only
from extrap.runs.build import build

SHAPE = Shape(dim=32, heads=4, layers=2, length=64, vocab=64)

DEEPER = replace(SHAPE, layers=4)
"""One period of the layouts in conf/scheme."""

DEFAULT_SHAPE = Shape(dim=64, heads=4, layers=2, length=64, vocab=577)
"""The default model, `model=tiny data.length=64`: parameters are counted for it."""


class Subject:
    """node: the configuration of a scheme; plugins: packages whose classes it may name.

    `fresh`: as constructed; `drawn`: parameters moved off their first values, which for a bias of
    zeros would show nothing. Both in float64 and evaluation mode.
    """

    def __init__(self, name: str, node: Mapping[str, Any], plugins: Sequence[str] = ()):
        self.name = name
        self.node = node
        self.plugins = plugins

    def scheme(self, shape: Shape = SHAPE) -> Scheme:
        """A new scheme. Raises UserError where the configuration does not make one of
        this shape.
        """
        with warnings.catch_warnings(), torch.random.fork_rng([]):
            warnings.simplefilter("ignore")  # advice on a scheme belongs to its training
            torch.manual_seed(0)
            return build(self.node, "scheme", self.plugins, Scheme, shape=shape)

    @cached_property
    def shape(self) -> Shape:
        """SHAPE, deeper for a layout whose layers differ."""
        layouts = any(isinstance(part, Only) for part in self.scheme().modules())
        return DEEPER if layouts else SHAPE

    @cached_property
    def fresh(self) -> GPT:
        return gpt(self.scheme(self.shape)).double()

    @cached_property
    def drawn(self) -> GPT:
        scheme = self.scheme(self.shape)
        with torch.random.fork_rng([]):
            torch.manual_seed(1)
            for p in scheme.parameters():
                nn.init.normal_(
                    p.data,
                    float(p.data.mean()),
                    0.1 if p.numel() == 1 else 0.3 + float(p.data.std()),
                )
        return gpt(scheme).double()


def gpt(scheme: Scheme) -> GPT:
    """The model around a scheme: the same weights for every scheme of a shape, in float32 and
    evaluation mode.
    """
    shape = scheme.shape
    with torch.random.fork_rng([]):
        torch.manual_seed(2)
        config = Decoder(shape.dim, shape.layers, shape.heads, shape.norm)  # type: ignore[arg-type]
        return GPT(scheme, shape.vocab, config).eval()


def draw(*size: int, seed: int = 3) -> Tensor:
    """Standard normal, float64, always the same."""
    return torch.randn(size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def words(T: int, batch: int = 1) -> Tensor:
    """(batch, T) token ids; a longer text begins with the shorter one."""
    return torch.randint(
        SHAPE.vocab, (T, batch), generator=torch.Generator().manual_seed(4)
    ).T.contiguous()


def place(model: GPT, tokens: Tensor, shift: float = 0.0) -> Where:
    """Where these tokens stand, all coordinates moved by a constant. Raises OutOfRange past the
    finite table of the scheme.
    """
    at = model.where(tokens)
    return at if shift == 0 else moved(model.scheme, at, at.q + shift)


def moved(scheme: Scheme, at: Where, t: Tensor) -> Where:
    """The same tokens at coordinates t (T,)."""
    if float(t.max()) >= scheme.limit:
        raise OutOfRange(f"coordinate {float(t.max()):g}")
    return Where.whole(t, at.scale, tokens=at.tokens, sees=at.sees)


def projected(model: GPT, layer: int, x: Tensor, at: Where) -> tuple[Tensor, Tensor, Tensor, Where]:
    """q, k, v (B, H, T, D) of a layer that is handed x (B, T, C), and the place its attention is
    told.
    """
    block = model.blocks[layer]
    normed = block.norm1(model.scheme.embed(x, at.at_layer(layer, x)))
    q, k, v = (for_every_head(part, block.heads) for part in block.project(normed))
    return q, k, v, at.at_layer(layer, normed)


def last_logits(scheme: Scheme, q: Tensor, k: Tensor, at: Where) -> Tensor:
    """(B, H, T): the logits of the last query, -inf where it sees nothing; where a scheme owns
    attention, the weights of the values.
    """
    T = k.shape[2]
    if scheme.uses("attend", layer=at.layer):
        return attention_weights(scheme, q, k, at)[:, :, -1]
    q, k = scheme.rotate(q, k, at)
    return logits(scheme, q[:, :, -1:], k, at.block(T - 1, T))[:, :, 0]


def last_read(scheme: Scheme, q: Tensor, k: Tensor, at: Where) -> Tensor:
    """(B, H, T): what the last query makes of each key. Its logits, which a softmax keeps up to a
    constant; its weights where a scheme makes them in another way (`normalise`, `attend`).
    """
    if makes_weights(scheme, at.layer) and not scheme.uses("attend", layer=at.layer):
        q, k = scheme.rotate(q, k, at)
        T = k.shape[2]
        return weights(scheme, q[:, :, -1:], k, at.block(T - 1, T))[:, :, 0]
    return last_logits(scheme, q, k, at)


def makes_weights(scheme: Scheme, layer: int) -> bool:
    """True if weights are no softmax of the logits, so that logits alone do not show them."""
    return scheme.uses("normalise", "attend", layer=layer)


def finite(s: Tensor) -> Tensor:
    """-inf, which hides a key, as 0."""
    return s.masked_fill(s == -torch.inf, 0)
