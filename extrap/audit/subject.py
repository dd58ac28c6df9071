"""One scheme under audit, in a small GPT: L = 64 tokens, 4 heads of 8 channels, 2 layers, or 4 if
its layers differ by a pattern. Seeds are fixed, so that a scheme always gets the same numbers.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from extrap.extensions.base import Extension
from extrap.model.attention import for_every_head
from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.scheme import OutOfRange, Scheme, Shape, Where, attention_weights, logits, weights
from extrap.model.stack import Only
from extrap.runs.build import build
from extrap.utils.errors import NotApplicable

SHAPE = Shape(dim=32, heads=4, layers=2, length=64, vocab=64)

DEFAULT_SHAPE = Shape(dim=64, heads=4, layers=2, length=64, vocab=577)
"""The default model, `model=tiny data.length=64`: parameters are counted for it."""


class Subject:
    """One scheme under audit, in a small GPT.

    Args:
        node: the configuration of a scheme
        plugins: packages whose classes it may name

    `fresh`: the model as constructed; `drawn`: with random parameters, as a bias of zeros shows
    nothing. Both in float64 and evaluation mode.
    """

    def __init__(self, name: str, node: Mapping[str, Any], plugins: Sequence[str] = ()):
        self.name = name
        self.node = node
        self.plugins = plugins

    def scheme(self, shape: Shape = SHAPE) -> Scheme:
        """Returns a new scheme. Raises UserError if the configuration allows none of this shape."""
        with warnings.catch_warnings(), torch.random.fork_rng([]):
            warnings.simplefilter("ignore")  # advice on a scheme belongs to its training
            torch.manual_seed(0)
            return build(self.node, "scheme", self.plugins, Scheme, shape=shape)

    @cached_property
    def shape(self) -> Shape:
        """SHAPE, with one period of a layout whose layers differ."""
        modules = self.scheme().modules()
        if any(isinstance(part, Only) for part in modules):
            return replace(SHAPE, layers=4)
        return SHAPE

    @cached_property
    def fresh(self) -> GPT:
        scheme = self.scheme(self.shape)
        return gpt(scheme).double()

    @cached_property
    def drawn(self) -> GPT:
        scheme = self.scheme(self.shape)
        with torch.random.fork_rng([]):
            torch.manual_seed(1)
            for p in scheme.parameters():
                values = p.data
                mean = float(values.mean())
                spread = 0.1 if p.numel() == 1 else 0.3 + float(values.std())
                nn.init.normal_(values, mean, spread)
        return gpt(scheme).double()


class Extended(Subject):
    """A scheme with an extension on it. `scheme` raises NotApplicable if the extension does not
    suit it, and for one that gives no other scheme, as it reads a text in several windows.
    """

    def __init__(
        self, name: str, node: Mapping[str, Any], plugins: Sequence[str], extension: Extension
    ):
        super().__init__(name, node, plugins)
        self.extension = extension

    def scheme(self, shape: Shape = SHAPE) -> Scheme:
        reader = self.extension(gpt(super().scheme(shape)))
        if not isinstance(reader, GPT):
            raise NotApplicable(f"{self.name}: it reads a text in several windows")
        return reader.scheme


def gpt(scheme: Scheme) -> GPT:
    """Returns a model in float32, whose weights are the same for every scheme of a shape."""
    shape = scheme.shape
    with torch.random.fork_rng([]):
        torch.manual_seed(2)
        config = Decoder(shape.dim, shape.layers, shape.heads, shape.norm)  # type: ignore[arg-type]
        model = GPT(scheme, shape.vocab, config)
        return model.eval()


def draw(*size: int, seed: int = 3) -> Tensor:
    """Standard normal, float64, always the same."""
    draws = torch.Generator().manual_seed(seed)
    return torch.randn(size, generator=draws, dtype=torch.float64)


def words(T: int) -> Tensor:
    """(1, T) token ids; a longer text begins with the shorter one."""
    draws = torch.Generator().manual_seed(4)
    column = torch.randint(SHAPE.vocab, (T, 1), generator=draws)
    return column.T.contiguous()


def repeated(texts: int, T: int) -> tuple[Tensor, Tensor]:
    """(texts, T) ids and (texts, T, C) rows: one token per text, so that places alone differ."""
    token = torch.arange(texts)[:, None]
    row = draw(texts, 1, SHAPE.dim)
    tokens = token.expand(texts, T)
    x = row.expand(texts, T, SHAPE.dim)
    return tokens, x


def moved(scheme: Scheme, at: Where, t: Tensor) -> Where:
    """The same tokens at coordinates t (T,)."""
    furthest = float(t.max())
    if furthest >= scheme.limit:
        raise OutOfRange(f"coordinate {furthest:g}")
    return Where.whole(t, at.scale, tokens=at.tokens, sees=at.sees)


def layers(model: GPT, x: Tensor, at: Where) -> Iterator[tuple[Tensor, Tensor, Tensor, Where]]:
    """Yields q, k, v (B, H, T, D) of every layer for the input x (B, T, C), and the place that its
    attention gets.
    """
    block: Any  # a Block, which torch's list of modules does not tell
    for layer, block in enumerate(model.blocks):
        placed = model.scheme.embed(x, at.at_layer(layer, x))
        normed = block.norm1(placed)
        parts = block.project(normed)
        here = at.at_layer(layer, normed)
        q, k, v = (for_every_head(part, block.heads) for part in parts)
        yield q, k, v, here


def last_logits(scheme: Scheme, q: Tensor, k: Tensor, at: Where, weighed: bool = False) -> Tensor:
    """(B, H, T): the logits of the last query, -inf for a hidden key; the weights of the values if
    a scheme owns attention. weighed: the weights also if they are no softmax of the logits.
    """
    T = k.shape[2]
    if scheme.uses("attend", layer=at.layer):
        a = attention_weights(scheme, q, k, at)
        return a[:, :, -1]
    q, k = scheme.rotate(q, k, at)
    last = q[:, :, -1:]
    here = at.block(T - 1, T)
    normalises = scheme.uses("normalise", layer=at.layer)
    read = weights if weighed and normalises else logits
    s = read(scheme, last, k, here)
    return s[:, :, 0]


def finite(s: Tensor) -> Tensor:
    """-inf, which hides a key, as 0."""
    return s.masked_fill(s == -torch.inf, 0)
