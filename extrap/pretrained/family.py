"""A family of transformers in both directions: a GPT with the weights of a model of the family, and
a model of our own as a config and tensors of the family.

Biases that a model of our own lacks are written as zeros, a head that reads the embedding divided
by sqrt(C) as a matrix of its own. extrap rejects a model that has no equal, with the option that
would have one.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.rotary import relayout
from extrap.model.scheme import Scheme, Shape
from extrap.utils.errors import UserError

Exported = tuple[dict[str, Any], dict[str, Tensor]]
"""config.json and the tensors."""

ACTIVATIONS = {"gelu": "gelu", "gelu-tanh": "gelu_new", "relu": "relu"}
"""Our words for activations, and transformers' words."""
OURS = {word: ours for ours, word in ACTIVATIONS.items()}
OURS |= dict.fromkeys(("gelu_pytorch_tanh", "gelu_fast"), "gelu-tanh")


class Family:
    """A family of models, as a table of names.

    Args:
        title: its name
        architecture, model_type: of its config
        keys: entries of its config for dim, layers, heads, length, eps, hidden (width of the MLP),
            mlp (activation)
        fixed: options of a Decoder that all its models have
        allowed: values of options that some of them have, None for any value
        ways: other ways out for a model of our own that has no form here
        prefix: in front of all tensors but the head, in some files
        block: of layer n, with `{}` for n
        linears, norms: within a block, with `{}` for q, k and v in matrices of their own
        outside: of embedding, norm and embedding_norm
        head: of the head, which has no prefix
        by_head: queries, keys and values of a head lie side by side
        transposed: matrices are (inner, outer)
        biased: with biases, else there is none, in norms neither
    """

    title: str
    architecture: str
    model_type: str
    keys: ClassVar[dict[str, str]]
    fixed: ClassVar[dict[str, Any]] = {}
    allowed: ClassVar[dict[str, tuple[Any, ...] | None]] = {}
    ways = ""
    prefix = "transformer."
    block = "h.{}"
    linears: ClassVar[dict[str, str]]
    norms: ClassVar[dict[str, str]]
    outside: ClassVar[dict[str, str]]
    head = "lm_head"
    by_head = transposed = False
    biased = True

    def options(self, config: Any) -> dict[str, Any]:
        """Returns the options of a Decoder for a config of transformers, without the head."""
        own = {name: getattr(config, key, None) for name, key in self.keys.items()}
        found = {"norm": "layer", "bias": "all"} | self.fixed
        found |= {name: own[name] for name in ("dim", "layers", "heads", "eps") if name in own}
        if "mlp" in own:
            found["mlp"] = OURS[own["mlp"]]
        if "hidden" in own:
            found["ratio"] = (own["hidden"] or 4 * own["dim"]) / own["dim"]
        return found

    def scheme(self, shape: Shape, config: Any) -> Scheme:
        """Returns the scheme of a model with this config."""
        raise NotImplementedError

    def clip(self, config: Any) -> float | None:
        """Returns the bound of queries, keys and values, None without one. No probe shows it: a
        few tokens may stay below.
        """
        return None

    def biases(self, model: GPT) -> tuple[str, ...]:
        """Returns the modules that have a bias in the files of a model of our own."""
        return (*self.linears, *self.norms, "norm", "embedding_norm") if self.biased else ()

    def rows(self, model: GPT, qkv: Tensor) -> Tensor:
        """Returns the rows of a matrix or bias of queries, keys and values as the file has them."""
        return _swapped(qkv, 3, model.blocks[0].heads) if self.by_head else qkv

    def names(self, layers: int) -> dict[str, str]:
        """Returns the name in the file of each module of a GPT but the head."""
        found = {ours: self.prefix + theirs for ours, theirs in self.outside.items()}
        for n in range(layers):
            stem = self.prefix + self.block.format(n)
            inner = self.norms | self.linears
            found |= {f"blocks.{n}.{ours}": f"{stem}.{theirs}" for ours, theirs in inner.items()}
        return found

    def read(self, state: Mapping[str, Tensor], config: Any) -> dict[str, Tensor]:
        """Returns the state dict of a GPT from transformers' state dict."""
        options = self.options(config)
        found = {"head.weight": state[f"{self.head}.weight"]}

        def tensor(name: str) -> Tensor:
            if "{}" in name:
                return torch.cat([state[name.format(x)] for x in "qkv"])
            return state[name]

        for ours, theirs in self.names(options["layers"]).items():
            last = ours.rpartition(".")[2]
            weight = tensor(f"{theirs}.weight")
            parts = {"weight": weight.T if self.transposed and last in self.linears else weight}
            if self.biased and last != "embedding":
                parts["bias"] = tensor(f"{theirs}.bias")
            elif last not in (*self.linears, "embedding"):  # a norm has one in any case
                parts["bias"] = torch.zeros_like(weight)
            if self.by_head and last == "qkv":
                parts = {part: _swapped(x, options["heads"], 3) for part, x in parts.items()}
            found |= {f"{ours}.{part}": x for part, x in parts.items()}
        return found

    def exported(self, model: GPT) -> Exported:
        """Returns config and tensors of our model. Raises UserError if the family has no equal."""
        block = model.blocks[0]
        own = model.config
        self.check(own)
        self.require(block.clip is None, "attn_config.clip_qkv=null")
        usual_eps = torch.finfo(model.norm.weight.dtype).eps
        sizes = {
            "dim": own.dim,
            "layers": own.layers,
            "heads": own.heads,
            "length": model.scheme.shape.length,
            "eps": usual_eps if model.norm.eps is None else model.norm.eps,
            "hidden": len(block.up.weight),
            "mlp": ACTIVATIONS.get(own.mlp, "silu"),
        }
        config = {
            "architectures": [self.architecture],
            "model_type": self.model_type,
            "vocab_size": len(model.embedding.weight),
            "tie_word_embeddings": model.head is None and model.head_scale is None,
        }
        config |= {key: sizes[name] for name, key in self.keys.items()}
        return config, self.write(model)

    def require(self, holds: bool, option: str) -> None:
        """Raises UserError, naming the option that would do, unless this holds."""
        if not holds:
            remedy = f"train a run with it{self.ways}"
            raise UserError("export", problem=f"{self.title} needs {option}", remedy=remedy)

    def check(self, own: Decoder) -> None:
        """Raises UserError for an option that no model of the family has."""
        known: dict[str, tuple[Any, ...] | None] = {}
        known |= dict.fromkeys(("qk_norm", "residual", "embedding_norm"), (None,))
        known |= {"kv_heads": (None, own.heads), "head_dim": (None, own.dim // own.heads)}
        known |= {"norm": ("layer",), "mlp": (*ACTIVATIONS,)}
        known |= {name: (value,) for name, value in self.fixed.items() if name != "bias"}
        for name, values in (known | self.allowed).items():
            if values is not None:
                words = ["null" if value is None else str(value) for value in values]
                option = " or ".join(", ".join(words).rsplit(", ", 1))
                self.require(getattr(own, name) in values, f"model.{name}={option}")

    def write(self, model: GPT) -> dict[str, Tensor]:
        """Returns the tensors of a model."""
        found = {}
        biases = self.biases(model)
        block = model.blocks[0]
        if model.head is not None:
            found[f"{self.head}.weight"] = model.head.weight
        elif model.head_scale is not None:
            found[f"{self.head}.weight"] = model.embedding.weight * model.head_scale
        for ours, theirs in self.names(len(model.blocks)).items():
            module = model.get_submodule(ours)
            last = ours.rpartition(".")[2]
            parts = {"weight": module.weight}
            if last in biases:
                zeros = module.weight.new_zeros(len(module.weight))
                parts["bias"] = zeros if module.bias is None else module.bias
            for part, x in parts.items():
                rows = self.rows(model, x) if last == "qkv" else x
                if part == "weight" and last in self.linears and self.transposed:
                    rows = rows.T
                if "{}" in theirs:
                    for letter, one in zip("qkv", rows.split(_sizes(block)), strict=True):
                        found[f"{theirs.format(letter)}.{part}"] = one
                else:
                    found[f"{theirs}.{part}"] = rows
        return found


class RotaryFamily(Family):
    """A family with RoPE on all channels of a head or on the first of them."""

    def exported(self, model: GPT) -> Exported:
        config, weights = super().exported(model)
        rope = {"rope_type": "default", "rope_theta": model.scheme.base}
        return config | {"rope_parameters": rope}, weights

    def rows(self, model: GPT, qkv: Tensor) -> Tensor:
        """Pair p of the channels that turn stands at p and p + width / 2."""
        block = model.blocks[0]
        scheme = model.scheme
        width = scheme.turned or block.head_dim
        q, k, v = qkv.split(_sizes(block))

        def half(x: Tensor, heads: int) -> Tensor:
            x = x.unflatten(0, (heads, -1))
            turned = relayout(x[:, :width].flatten(0, 1), heads, scheme.layout, "half")
            return torch.cat([turned.unflatten(0, (heads, width)), x[:, width:]], 1).flatten(0, 1)

        return super().rows(model, torch.cat([half(q, block.heads), half(k, block.kv_heads), v]))


def _sizes(block: Any) -> list[int]:
    """Returns the rows of queries, of keys and of values."""
    return [n * block.head_dim for n in (block.heads, block.kv_heads, block.kv_heads)]


def _swapped(x: Tensor, n: int, m: int) -> Tensor:
    """Returns rows (n, m, D) as (m, n, D), of a matrix (n m D, C) or a bias (n m D,)."""
    return x.unflatten(0, (n, m, -1)).transpose(0, 1).flatten(0, 2)
