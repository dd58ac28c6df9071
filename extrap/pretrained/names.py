"""Names of the tensors of a GPT in the files of a family, both ways: read into ours, written from
ours. For families whose queries, keys and values lie in one matrix.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from extrap.model.gpt import GPT
from extrap.pretrained.plan import Tensors

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
    ignored: tuple[str, ...] = ()
    """Ends of names of buffers that hold no weights."""

    def read(
        self, tensors: Tensors, options: dict, vocab: int, hidden: int, tied: bool
    ) -> dict[str, Tensor]:
        """The state dict of a GPT with these options. hidden: width of the MLP; tied: the head is
        the embedding, which a file may hold twice.
        """
        C, heads = options["dim"], options["heads"]
        sizes = {"qkv": (3 * C, C), "out": (C, C), "up": (hidden, C), "down": (C, hidden)}
        tensors.inside(self.prefix).drop(*self.ignored)
        found = {"embedding.weight": tensors.take(f"{self.outside['embedding']}.weight", vocab, C)}
        if tied:
            tensors.drop_copy(f"{self.head}.weight", found["embedding.weight"])
        else:
            found["head.weight"] = tensors.bare(f"{self.head}.weight", vocab, C)
        norms = {ours: theirs for ours, theirs in self.outside.items() if ours != "embedding"}
        for n in range(options["layers"]):
            stem = self.block.format(n)
            norms |= {f"blocks.{n}.{x}": f"{stem}.{self.norms[x]}" for x in NORMS}
            for ours in LINEARS:
                outer, inner = sizes[ours]
                shape = (inner, outer) if self.transposed else (outer, inner)
                name = f"{stem}.{self.linears[ours]}"
                parts = {"weight": tensors.take(f"{name}.weight", *shape)}
                if self.transposed:
                    parts["weight"] = parts["weight"].T
                if self.biased:
                    parts["bias"] = tensors.take(f"{name}.bias", outer)
                for part, tensor in parts.items():
                    rows = _by_kind(tensor, heads) if self.by_head and ours == "qkv" else tensor
                    found[f"blocks.{n}.{ours}.{part}"] = rows
        for ours, theirs in norms.items():
            found[f"{ours}.weight"] = tensors.take(f"{theirs}.weight", C)
            bias = tensors.take(f"{theirs}.bias", C) if self.biased else torch.zeros(C)
            found[f"{ours}.bias"] = bias
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
