"""The scheme of a model of transformers: the parts that its layers have, each in its layers."""

from collections.abc import Hashable
from math import isclose

import torch
from torch import Tensor

from extrap.model.rotary import Layout, Rotary
from extrap.model.scheme import Scheme, Shape, Where
from extrap.model.stack import Only, Stack
from extrap.pretrained.layer import Layer
from extrap.schemes.chunked import Chunks
from extrap.schemes.nope import NoPE
from extrap.schemes.window import Window


class Rotation(Rotary):
    """The rotation of a layer as the model has it: its pairs, its frequencies at every length.

    Args:
        layer: what a probe found

    Kind: relative
    Used by: most decoders
    Past L: defined; slow pairs meet angles never trained
    Source: arXiv 2104.09864
    """

    published = True

    def __init__(self, shape: Shape, layer: Layer):
        Scheme.__init__(self, shape)
        self.base, self.louder = layer.base, layer.louder
        self.layout: Layout = layout_of(layer.pairs, layer.width)
        self.layer = layer
        self._kept: dict[int, Tensor] = {}

    def spectrum(self, n: int) -> Tensor:
        """theta (P,), float64, of a forward of n tokens."""
        if n not in self._kept:
            self._kept[n] = self.layer.theta(n)
        return self._kept[n]


def layout_of(pairs: Tensor, width: int) -> Layout:
    """Returns the layout of pairs (P, 2) among the channels of a head: by name where the first
    channels turn in a usual order, else all channels in order of pairs, the others behind.
    """
    first = torch.arange(pairs.numel())
    if torch.equal(pairs, first.view(2, -1).T):
        return "half"
    if torch.equal(pairs, first.view(-1, 2)):
        return "interleaved"
    order = pairs.flatten().tolist()
    return order + [c for c in range(width) if c not in set(order)]


class Amplitude(Scheme):
    """Channels of queries and keys that turn times a number, as a scaling multiplies cos and sin.
    Some models have a number for short texts and another for long ones.

    Args:
        layer: what a probe found

    Kind: modifier
    Used by: Qwen with YaRN, Phi with LongRoPE
    Past L: defined
    Source: arXiv 2309.00071
    """

    def __init__(self, shape: Shape, layer: Layer):
        super().__init__(shape)
        self.layer = layer
        self.channels = layer.pairs.flatten().tolist()
        self._kept: dict[int, float] = {}

    def by(self, n: int) -> float:
        """Returns the factor in a forward of n tokens."""
        if n not in self._kept:
            self._kept[n] = self.layer.amplitude(n)
        return self._kept[n]

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        by = q.new_ones(q.shape[-1])
        by[self.channels] = self.by(at.length)
        return q * by, k * by


class SoftCap(Scheme):
    """c tanh(s / c) of content logits s, before biases and the mask. Parameters: none.

    Args:
        cap: c

    Weights are laid out, by blocks of rows: no fused kernel caps.

    Kind: modifier
    Used by: Gemma 2
    Past L: defined
    Source: arXiv 2408.00118
    """

    def __init__(self, shape: Shape, cap: float):
        super().__init__(shape)
        if cap <= 0:
            raise ValueError(f"attn_logit_softcapping={cap}: above 0")
        self.cap = cap

    def score(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        return (super().score(q, k, at) / self.cap).tanh() * self.cap


class GivenSink(Scheme):
    """Logits of a key of value zero that the model itself hands over; zeros in a probe without one.

    Kind: modifier
    Used by: gpt-oss
    Past L: defined; the row sum tends to 1
    Source: https://arxiv.org/abs/2508.10925
    """

    def sink(self, at: Where) -> Tensor:
        given = at.memo.get((GivenSink, at.layer))
        return torch.zeros(self.shape.heads, device=at.q.device) if given is None else given


class Table(Scheme):
    """A table of positions that the model adds by itself; it ends at `rows`.

    Kind: none
    Used by: GPT-Neo, GPT-BigCode
    Past L: undefined
    Source: arXiv 1706.03762
    """

    def __init__(self, shape: Shape, rows: int):
        super().__init__(shape)
        self.limit = rows


def lengths(L: int) -> list[int]:
    """Returns lengths of texts at which layers are compared: a scaling may begin at any length."""
    longest = max(16 * L, 2**17)
    return sorted({L, *(2**n for n in range(1, longest.bit_length()))})


def scheme_of(layers: list[Layer], shape: Shape, rows: int | None = None) -> Scheme:
    """Returns the stack of what the layers have. rows: of a table of positions."""
    kinds: dict[Hashable, tuple[Scheme, list[int]]] = {}
    columns_of: dict[int, list[tuple[Tensor, float]]] = {}  # by call, which many layers share

    def has(n: int, key: Hashable, part: Scheme) -> None:
        kinds.setdefault(key, (part, []))[1].append(n)

    for n, layer in enumerate(layers):
        if layer.source is not None:
            if (call := id(layer.source)) not in columns_of:
                at_lengths = [layer.source.columns(tokens) for tokens in lengths(shape.length)]
                columns_of[call] = at_lengths
            every = columns_of[call]
            pairs = tuple(layer.pairs.flatten().tolist())
            theta = [tuple(columns[layer.columns].tolist()) for columns, _ in every]
            by = tuple(amplitude for _, amplitude in every)
            has(n, (*theta, by, pairs), Rotation(shape, layer))
            if layer.louder is not False and not all(isclose(one, 1.0, rel_tol=1e-6) for one in by):
                has(n, (by, pairs), Amplitude(shape, layer))
        if layer.window is not None:
            has(n, ("window", layer.window), Window(shape, layer.window))
        if layer.chunk is not None:
            chunks = Chunks(shape)
            chunks.size = layer.chunk
            has(n, ("chunk", layer.chunk), chunks)
        if layer.cap is not None:
            has(n, ("cap", layer.cap), SoftCap(shape, layer.cap))
        if layer.sink:
            has(n, "sink", GivenSink(shape))
    if rows is not None:
        kinds["table"] = (Table(shape, rows), [*range(len(layers))])
    parts = [p if len(own) == len(layers) else Only(shape, p, own) for p, own in kinds.values()]
    return parts[0] if len(parts) == 1 else Stack(shape, parts) if parts else NoPE(shape)
