"""GPT-NeoX (Pythia): RoPE on a part of the channels, attention and MLP of one x, layer norms,
biases. Queries, keys and values of a head lie side by side in the file.
"""

from extrap.pretrained.names import Names
from extrap.pretrained.plan import ACTIVATIONS, Plan, Settings
from extrap.pretrained.rope import turning

MODEL_TYPES = ("gpt_neox",)
NAMES = Names(
    prefix="gpt_neox.",
    block="layers.{}",
    linears={
        "qkv": "attention.query_key_value",
        "out": "attention.dense",
        "up": "mlp.dense_h_to_4h",
        "down": "mlp.dense_4h_to_h",
    },
    norms={"norm1": "input_layernorm", "norm2": "post_attention_layernorm"},
    outside={"embedding": "embed_in", "norm": "final_layer_norm"},
    head="embed_out",
    by_head=True,
    ignored=("rotary_emb.inv_freq", "attention.bias", "attention.masked_bias"),
)


def plan(settings: Settings) -> Plan:
    values = {"rotary_pct": 0.25} | dict(settings.values)  # what transformers takes where it lacks
    if values.get("rotary_emb_base") is not None:  # the name of this family
        values.pop("rope_theta", None)
    settings = Settings(values, settings.place)
    settings.only("attention_bias", True)
    dim, vocab = settings.size("hidden_size"), settings.size("vocab_size")
    hidden = settings.size("intermediate_size")
    tied = bool(settings.get("tie_word_embeddings", False))
    options = {
        "dim": dim,
        "layers": settings.size("num_hidden_layers"),
        "heads": settings.size("num_attention_heads"),
        "norm": "layer",
        "eps": settings.number("layer_norm_eps", 1e-5),
        "mlp": settings.one_of("hidden_act", ACTIVATIONS, "gelu"),
        "ratio": hidden / dim,
        "head": "shared" if tied else "untied",
        "bias": "all",
        "residual": "parallel" if settings.get("use_parallel_residual", True) else None,
    }
    return Plan(
        options,
        vocab,
        settings.size("max_position_embeddings"),
        lambda shape: turning(settings, shape),
        lambda tensors: NAMES.read(tensors, options, vocab, hidden, tied),
    )
