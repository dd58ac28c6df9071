"""What the architectures ask of a model, and the parts of a config that they share."""

import torch
from torch import Tensor, nn

from extrap.model.gpt import GPT
from extrap.utils.errors import UserError

Exported = tuple[dict, dict[str, Tensor]]
"""config.json and the tensors."""

ACTIVATIONS = {nn.GELU: {"none": "gelu", "tanh": "gelu_new"}, nn.ReLU: {"none": "relu"}}
WORDS = {nn.RMSNorm: "rms", nn.LayerNorm: "layer"}


WAYS = {"Llama": ", with model=llama-tiny, or with model.norm=layer as GPT-NeoX"}
"""Other ways out, by architecture."""


def require(holds: bool, option: str, architecture: str) -> None:
    """Raises UserError, naming the option that would do, unless this holds."""
    if not holds:
        remedy = f"train a run with it{WAYS.get(architecture, '')}"
        raise UserError("export", problem=f"{architecture} needs {option}", remedy=remedy)


def check(
    model: GPT,
    norm: type,
    architecture: str,
    parallel: bool = False,
    embedding_norm: bool = False,
    groups: bool = False,
) -> float:
    """eps of the norms. Raises UserError for what the architecture has no place for.

    parallel: it may have attention and MLP of one x; embedding_norm: it has one; groups: it has
    grouped keys and heads of any width.
    """
    block, C = model.blocks[0], model.embedding.weight.shape[1]
    require(isinstance(model.norm, norm), f"model.norm={WORDS[norm]}", architecture)
    require(block.qk_norm is None, "model.qk_norm=null", architecture)
    require(parallel or not block.parallel, "model.residual=null", architecture)
    if embedding_norm:
        normed = isinstance(model.embedding_norm, norm)
        require(normed, f"model.embedding_norm={WORDS[norm]}", architecture)
    else:
        require(model.embedding_norm is None, "model.embedding_norm=null", architecture)
    require(model.embedding_scale is None, "model.embedding_scale=null", architecture)
    require(block.post1 is None, "model.post_norm=null", architecture)
    require(model.logit_cap is None, "model.logit_cap=null", architecture)
    if not groups:
        require(block.kv_heads == block.heads, "model.kv_heads=null", architecture)
        require(block.heads * block.head_dim == C, "model.head_dim=null", architecture)
    eps = model.norm.eps
    return torch.finfo(model.norm.weight.dtype).eps if eps is None else eps


def activation(model: GPT, architecture: str, *allowed: str) -> str:
    """The word of transformers for that of an MLP without a gate. Raises UserError for one that is
    not allowed.
    """
    block = model.blocks[0]
    kind = ACTIVATIONS.get(type(block.act), {}).get(getattr(block.act, "approximate", "none"))
    ours = {"gelu": "gelu", "gelu_new": "gelu-tanh", "relu": "relu"}
    options = " or ".join(", ".join(ours[word] for word in allowed).rsplit(", ", 1))
    require(block.gate is None and kind in allowed, f"model.mlp={options}", architecture)
    assert kind is not None
    return kind


def head(model: GPT, name: str = "lm_head.weight") -> tuple[bool, dict[str, Tensor]]:
    """Whether it is the embedding as it is, and else its matrix. One that reads the embedding
    divided by sqrt(C) becomes a matrix of its own.
    """
    if model.head is not None:
        return False, {name: model.head.weight}
    if model.head_scale is None:
        return True, {}
    return False, {name: model.embedding.weight * model.head_scale}
