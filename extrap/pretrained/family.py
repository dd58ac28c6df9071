"""A family of transformers in both directions: a GPT with the weights of a model of the family, and
a model of our own as a config and tensors of the family.

Biases that a model of our own lacks are written as zeros, a head that reads the embedding divided
by sqrt(C) as a matrix of its own. extrap rejects a model that has no equal, with the option that
would have one.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from extrap.model.gpt import GPT
from extrap.model.scheme import Scheme, Shape
from extrap.utils.errors import UserError

Exported = tuple[dict[str, Any], dict[str, Tensor]]
"""config.json and the tensors."""

ACTIVATIONS = {"gelu": "gelu", "gelu-tanh": "gelu_new", "relu": "relu"}
"""Our words for activations, and those of transformers."""
OURS = {word: ours for ours, word in ACTIVATIONS.items()}
OURS |= dict.fromkeys(("gelu_pytorch_tanh", "gelu_fast"), "gelu-tanh")
LINEARS = ("qkv", "out", "up", "down")
WAYS = {"Llama": ", with model=llama-tiny, or with model.norm=layer as GPT-NeoX"}
"""Other ways out, by name."""


class Family:
    """A family whose queries, keys and values lie in one matrix.

    title: its name; architecture, model_type: of its config. keys: entries of its config for dim,
    layers, heads, length, eps, hidden (width of the MLP), mlp (activation). fixed: options of a
    Decoder that all its models have; allowed: values of options that some of them have.

    prefix: in front of all tensors but the head, in some files; block: of layer n, with `{}` for n;
    linears, norms: within a block; outside: of embedding, norm and embedding_norm; head: of the
    head, which has no prefix. by_head: queries, keys and values of a head lie side by side;
    transposed: matrices are (inner, outer); biased: with biases, else there is none, in norms
    neither.
    """

    title: str
    architecture: str
    model_type: str
    keys: ClassVar[dict[str, str]]
    fixed: ClassVar[dict[str, Any]] = {}
    allowed: ClassVar[dict[str, tuple[Any, ...]]] = {}
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

    def read(self, state: Mapping[str, Tensor], config: Any) -> dict[str, Tensor]:
        """Returns the state dict of a GPT from that of transformers."""
        options = self.options(config)
        found = {"head.weight": state[f"{self.head}.weight"]}
        modules = dict(self.outside)
        for n in range(options["layers"]):
            inner = (self.norms | self.linears).items()
            modules |= {f"blocks.{n}.{x}": f"{self.block.format(n)}.{y}" for x, y in inner}
        for ours, theirs in modules.items():
            last = ours.rpartition(".")[2]
            weight = state[f"{self.prefix}{theirs}.weight"]
            parts = {"weight": weight.T if self.transposed and last in LINEARS else weight}
            if self.biased and last != "embedding":
                parts["bias"] = state[f"{self.prefix}{theirs}.bias"]
            elif last not in (*LINEARS, "embedding"):  # a norm has one in any case
                parts["bias"] = torch.zeros_like(weight)
            if self.by_head and last == "qkv":
                parts = {part: _swapped(x, options["heads"], 3) for part, x in parts.items()}
            found |= {f"{ours}.{part}": x for part, x in parts.items()}
        return found

    def exported(self, model: GPT) -> Exported:
        """Returns config and tensors of a model of our own. Raises UserError for a model that has
        no equal in the family.
        """
        fixed = {name: (value,) for name, value in self.fixed.items() if name != "bias"}
        usual = {"norm": ("layer",), "mlp": (*ACTIVATIONS,)}
        check(model, self.title, **usual | fixed | self.allowed)
        tied, weights = self.head_of(model)
        block, own = model.blocks[0], model.config
        sizes = {
            "dim": own.dim,
            "layers": own.layers,
            "heads": own.heads,
            "length": model.scheme.shape.length,
            "eps": eps(model),
            "hidden": len(block.up.weight),
            "mlp": ACTIVATIONS[own.mlp],
        }
        config = described(model, self.architecture, self.model_type, tied)
        config |= {key: sizes[name] for name, key in self.keys.items()}
        return config, weights | self.write(model)

    def head_of(self, model: GPT) -> tuple[bool, dict[str, Tensor]]:
        return head(model, f"{self.head}.weight")

    def rows(self, model: GPT, qkv: Tensor) -> Tensor:
        """Returns the rows of queries, keys and values, (3 H D, ...), in the order of the file."""
        return qkv

    def write(self, model: GPT) -> dict[str, Tensor]:
        """Returns the tensors of a model without its head."""
        embedding = self.prefix + self.outside["embedding"]
        found = {f"{embedding}.weight": model.embedding.weight}
        norms: dict[str, nn.Module | None] = {
            self.outside[name]: getattr(model, name) for name in self.outside if name != "embedding"
        }
        for n, layer in enumerate(model.blocks):
            stem = self.block.format(n)
            norms |= {f"{stem}.{theirs}": getattr(layer, x) for x, theirs in self.norms.items()}
            for ours in LINEARS:
                linear, name = getattr(layer, ours), f"{self.prefix}{stem}.{self.linears[ours]}"
                both = [linear.weight, bias_of(linear)]
                if ours == "qkv":
                    both = [self.rows(model, x) for x in both]
                if ours == "qkv" and self.by_head:
                    both = [_swapped(x, 3, layer.heads) for x in both]
                found[f"{name}.weight"] = both[0].T if self.transposed else both[0]
                if self.biased:
                    found[f"{name}.bias"] = both[1]
        for name, norm in norms.items():
            if norm is not None:
                found[f"{self.prefix}{name}.weight"] = norm.weight
                if self.biased:
                    found[f"{self.prefix}{name}.bias"] = norm.bias
        return found


def _swapped(x: Tensor, n: int, m: int) -> Tensor:
    """Returns rows (n, m, D) as (m, n, D), of a matrix (n m D, C) or a bias (n m D,)."""
    return x.unflatten(0, (n, m, -1)).transpose(0, 1).flatten(0, 2)


def require(holds: bool, option: str, title: str) -> None:
    """Raises UserError, naming the option that would do, unless this holds."""
    if not holds:
        remedy = f"train a run with it{WAYS.get(title, '')}"
        raise UserError("export", problem=f"{title} needs {option}", remedy=remedy)


def check(model: GPT, title: str, **allowed: tuple[Any, ...]) -> None:
    """Raises UserError for an option of a published decoder, unless it is null or among these."""
    own = model.config
    null = dict.fromkeys(("qk_norm", "residual", "embedding_norm", "embedding_scale"), (None,))
    null |= dict.fromkeys(("post_norm", "logit_cap"), (None,))
    null |= {"kv_heads": (None, own.heads), "head_dim": (None, own.dim // own.heads)}
    for name, values in (null | allowed).items():
        words = ["null" if value is None else str(value) for value in values]
        option = " or ".join(", ".join(words).rsplit(", ", 1))
        require(getattr(own, name) in values, f"model.{name}={option}", title)


def described(model: GPT, architecture: str, model_type: str, tied: bool) -> dict[str, Any]:
    """Returns the entries of config.json that all families share."""
    return {
        "architectures": [architecture],
        "model_type": model_type,
        "vocab_size": len(model.embedding.weight),
        "tie_word_embeddings": tied,
    }


def eps(model: GPT) -> float:
    """Returns eps of the norms; torch's default is that of the dtype."""
    found = model.norm.eps
    return torch.finfo(model.norm.weight.dtype).eps if found is None else found


def head(model: GPT, name: str = "lm_head.weight") -> tuple[bool, dict[str, Tensor]]:
    """Returns whether the head is the embedding as it is, and its matrix if not."""
    if model.head is not None:
        return False, {name: model.head.weight}
    if model.head_scale is None:
        return True, {}
    return False, {name: model.embedding.weight * model.head_scale}


def bias_of(layer: nn.Linear) -> Tensor:
    """Returns the bias of a layer, or zeros."""
    zeros = layer.weight.new_zeros(layer.weight.shape[0])
    return zeros if layer.bias is None else layer.bias
