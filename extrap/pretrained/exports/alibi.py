"""BLOOM or MPT of ALiBi: the one has a norm of the embedding and biases everywhere, the other
neither.
"""

import math

from torch import nn

from extrap.model.gpt import GPT
from extrap.pretrained.exports.common import Exported, activation, check, head, require
from extrap.pretrained.families import bloom, mpt
from extrap.schemes.alibi import alibi_slopes

STEEPEST = 8


def exported(model: GPT) -> Exported:
    return _bloom(model) if model.embedding_norm is not None else _mpt(model)


def _bloom(model: GPT) -> Exported:
    block, C = model.blocks[0], model.embedding.weight.shape[1]
    eps = check(model, nn.LayerNorm, "BLOOM", embedding_norm=True)
    activation(model, "BLOOM", "gelu_new")
    require(len(block.up.weight) == 4 * C, "model.ratio=4", "BLOOM")
    require(_same(model.scheme.slopes, alibi_slopes(block.heads)), "scheme.slopes=null", "BLOOM")
    tied, weights = head(model)
    config = {
        "architectures": ["BloomForCausalLM"],
        "model_type": "bloom",
        "vocab_size": len(model.embedding.weight),
        "hidden_size": C,
        "n_layer": len(model.blocks),
        "n_head": block.heads,
        "seq_length": model.scheme.shape.length,
        "layer_norm_epsilon": eps,
        "tie_word_embeddings": tied,
    }
    return config, weights | bloom.NAMES.write(model)


def _mpt(model: GPT) -> Exported:
    block, C = model.blocks[0], model.embedding.weight.shape[1]
    name = "MPT (BLOOM: model.embedding_norm=layer)"
    eps = check(model, nn.LayerNorm, name)
    activation(model, name, "gelu")
    biased = any(n.endswith("bias") and bool(p.any()) for n, p in model.named_parameters())
    require(not biased, "no biases, of norms neither", name)
    require(len(block.up.weight) == 4 * C, "model.ratio=4", name)
    slopes = mpt.slopes(block.heads, STEEPEST)
    require(_same(model.scheme.slopes, slopes), "the slopes of MPT, which are others here", name)
    tied, weights = head(model)
    require(tied, "model.head=shared", name)
    config = {
        "architectures": ["MptForCausalLM"],
        "model_type": "mpt",
        "vocab_size": len(model.embedding.weight),
        "d_model": C,
        "n_layers": len(model.blocks),
        "n_heads": block.heads,
        "expansion_ratio": 4,
        "max_seq_len": model.scheme.shape.length,
        "layer_norm_epsilon": eps,
        "attn_config": {"alibi": True, "alibi_bias_max": STEEPEST},
    }
    return config, weights | mpt.NAMES.write(model)


def _same(ours: list[float], theirs: list[float]) -> bool:
    return all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(ours, theirs, strict=True))
