"""BLOOM: ALiBi, a norm of the token embedding, layer norms, biases everywhere, most often a tied
head. Queries, keys and values of a head lie side by side in the file.
"""

from extrap.pretrained.names import Names
from extrap.pretrained.plan import Plan, Settings
from extrap.schemes.alibi import ALiBi

MODEL_TYPES = ("bloom",)
NAMES = Names(
    prefix="transformer.",
    block="h.{}",
    linears={
        "qkv": "self_attention.query_key_value",
        "out": "self_attention.dense",
        "up": "mlp.dense_h_to_4h",
        "down": "mlp.dense_4h_to_h",
    },
    norms={"norm1": "input_layernorm", "norm2": "post_attention_layernorm"},
    outside={
        "embedding": "word_embeddings",
        "embedding_norm": "word_embeddings_layernorm",
        "norm": "ln_f",
    },
    head="lm_head",
    by_head=True,
)


def plan(settings: Settings) -> Plan:
    settings.only("apply_residual_connection_post_layernorm", False)
    tied = bool(settings.get("tie_word_embeddings", True))
    dim, vocab = settings.size("hidden_size", "n_embed"), settings.size("vocab_size")
    options = {
        "dim": dim,
        "layers": settings.size("n_layer", "num_hidden_layers"),
        "heads": settings.size("n_head", "num_attention_heads"),
        "norm": "layer",
        "eps": settings.number("layer_norm_epsilon", 1e-5),
        "mlp": "gelu-tanh",
        "head": "shared" if tied else "untied",
        "bias": "all",
        "embedding_norm": "layer",
    }
    length = settings.size("seq_length", "n_positions", default=0) or None
    return Plan(
        options, vocab, length, ALiBi, lambda t: NAMES.read(t, options, vocab, 4 * dim, tied)
    )
