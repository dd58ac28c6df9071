"""Names of the tensors of a GPT in the files of a family, both ways: read into ours, written from
ours. For families whose queries, keys and values lie in one matrix.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from extrap.model.gpt import GPT

ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu-tanh",
    "gelu_pytorch_tanh": "gelu-tanh",
    "gelu_fast": "gelu-tanh",
    "relu": "relu",
}
"""Names of activations in a config, and in the GPT."""
LINEARS = ("qkv", "out", "up", "down")
NORMS = ("norm1", "norm2")


@dataclass(frozen=True)
class Names:
    """A family's names in place of ours.

    prefix: in front of all but the head, in some files; block: of layer n, with `{}` for n;
    linears, norms: of LINEARS and NORMS within a block; outside: of embedding, norm and
    embedding_norm; head: of the head, which has no prefix. by_head: queries, keys and values of a
    head lie side by side; transposed: matrices are (inner, outer); biased: with biases, else there
    is none, in norms neither.
    """

    prefix: str
    block: str
    linears: dict[str, str]
    norms: dict[str, str]
    outside: dict[str, str]
    head: str
    by_head: bool = False
    transposed: bool = False
    biased: bool = True

    def read(self, state: Mapping[str, Tensor], config: Any) -> dict[str, Tensor]:
        """Returns the state dict of a GPT from that of transformers."""
        layers, heads = config.num_hidden_layers, config.num_attention_heads
        found = {"head.weight": state[f"{self.head}.weight"]}
        modules = dict(self.outside)
        for n in range(layers):
            stem = self.block.format(n)
            inner = (self.norms | self.linears).items()
            modules |= {f"blocks.{n}.{ours}": f"{stem}.{theirs}" for ours, theirs in inner}
        for ours, theirs in modules.items():
            last = ours.rpartition(".")[2]
            weight = state[f"{self.prefix}{theirs}.weight"]
            parts = {"weight": weight.T if self.transposed and last in LINEARS else weight}
            if self.biased and last != "embedding":
                parts["bias"] = state[f"{self.prefix}{theirs}.bias"]
            elif last not in (*LINEARS, "embedding"):  # a norm has one in any case
                parts["bias"] = torch.zeros_like(weight)
            for part, tensor in parts.items():
                rows = _by_kind(tensor, heads) if self.by_head and last == "qkv" else tensor
                found[f"{ours}.{part}"] = rows
        return found

    def write(
        self, model: GPT, turned: Callable[[Tensor], Tensor] = lambda rows: rows
    ) -> dict[str, Tensor]:
        """The tensors of a model without its head; biases that it lacks are zeros. turned: what
        becomes of rows of queries, keys and values.
        """
        embedding = self.prefix + self.outside["embedding"]
        found = {f"{embedding}.weight": model.embedding.weight}
        norms: dict[str, nn.Module | None] = {
            self.outside[name]: getattr(model, name) for name in self.outside if name != "embedding"
        }
        for n, layer in enumerate(model.blocks):
            stem = self.block.format(n)
            norms |= {f"{stem}.{self.norms[x]}": getattr(layer, x) for x in NORMS}
            for ours in LINEARS:
                linear, name = getattr(layer, ours), f"{self.prefix}{stem}.{self.linears[ours]}"
                weight, bias = linear.weight, bias_of(linear)
                if ours == "qkv":
                    weight, bias = turned(weight), turned(bias)
                if self.by_head and ours == "qkv":
                    weight, bias = (_by_head(x, layer.heads) for x in (weight, bias))
                found[f"{name}.weight"] = weight.T if self.transposed else weight
                if self.biased:
                    found[f"{name}.bias"] = bias
        for name, norm in norms.items():
            if norm is not None:
                found[f"{self.prefix}{name}.weight"] = norm.weight  # type: ignore[assignment]
                if self.biased:
                    found[f"{self.prefix}{name}.bias"] = norm.bias  # type: ignore[assignment]
        return found


def bias_of(layer: nn.Linear) -> Tensor:
    """Its bias, or zeros."""
    zeros = layer.weight.new_zeros(layer.weight.shape[0])
    return zeros if layer.bias is None else layer.bias


def _by_kind(fused: Tensor, heads: int) -> Tensor:
    """Rows (H, 3, D) as (3, H, D); weights (3 H D, C) and biases (3 H D,)."""
    return fused.unflatten(0, (heads, 3, -1)).transpose(0, 1).flatten(0, 2)


def _by_head(fused: Tensor, heads: int) -> Tensor:
    """The way back."""
    return fused.unflatten(0, (3, heads, -1)).transpose(0, 1).flatten(0, 2)
