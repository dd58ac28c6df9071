"""GPT-2 of a learned table of positions at the input."""

from torch import nn

from extrap.model.gpt import GPT
from extrap.pretrained.exports.common import Exported, activation, check, head, require
from extrap.pretrained.families.gpt2 import NAMES, TABLE

NAME = "GPT-2"


def exported(model: GPT) -> Exported:
    block, table = model.blocks[0], model.scheme.table
    eps = check(model, nn.LayerNorm, NAME)
    kind = activation(model, NAME, "gelu", "gelu_new", "relu")
    require(len(table) == 1 and model.scheme.policy == "raise", "scheme=learned", NAME)
    tied, weights = head(model)
    config = {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "vocab_size": len(model.embedding.weight),
        "n_positions": len(table[0]),
        "n_embd": model.embedding.weight.shape[1],
        "n_inner": len(block.up.weight),
        "n_layer": len(model.blocks),
        "n_head": block.heads,
        "activation_function": kind,
        "layer_norm_epsilon": eps,
        "tie_word_embeddings": tied,
    }
    return config, weights | NAMES.write(model) | {NAMES.prefix + TABLE: table[0]}
