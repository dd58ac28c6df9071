"""MPT: ALiBi with slopes in an order of its own, layer norms without biases, a tied head."""

from extrap.pretrained.names import Names
from extrap.pretrained.plan import Plan, Settings
from extrap.schemes.alibi import ALiBi

MODEL_TYPES = ("mpt",)
NAMES = Names(
    prefix="transformer.",
    block="blocks.{}",
    linears={
        "qkv": "attn.Wqkv",
        "out": "attn.out_proj",
        "up": "ffn.up_proj",
        "down": "ffn.down_proj",
    },
    norms={"norm1": "norm_1", "norm2": "norm_2"},
    outside={"embedding": "wte", "norm": "norm_f"},
    head="lm_head",
    biased=False,
)


def slopes(heads: int, steepest: float) -> list[float]:
    """2**(-n steepest / P), n = 1 .. P, P the next power of two; for fewer heads the second,
    fourth, ... first, then the others.
    """
    power = 1 << (heads - 1).bit_length()
    every = [2 ** (-n * steepest / power) for n in range(1, power + 1)]
    return every if power == heads else (every[1::2] + every[::2])[:heads]


def plan(settings: Settings) -> Plan:
    attention = Settings(settings.get("attn_config", {}), f"{settings.place} attn_config")
    attention.only("alibi", True)
    for name in ("clip_qkv", "softmax_scale"):
        attention.only(name)
    for name in ("prefix_lm", "qk_ln", "attn_uses_sequence_id"):
        attention.only(name, False)
    settings.only("no_bias", True)
    settings.only("logit_scale")
    settings.only("embedding_fraction", 1, 1.0)
    settings.only("tie_word_embeddings", True)
    dim, heads = settings.size("d_model"), settings.size("n_heads")
    vocab = settings.size("vocab_size")
    ratio = settings.size("expansion_ratio", default=4)
    steepest = attention.number("alibi_bias_max", 8)
    options = {
        "dim": dim,
        "layers": settings.size("n_layers"),
        "heads": heads,
        "norm": "layer",
        "eps": settings.number("layer_norm_epsilon", 1e-5),
        "mlp": "gelu",
        "ratio": float(ratio),
        "head": "shared",
        "bias": "none",
    }

    def scheme(shape):
        return ALiBi(shape, slopes(heads, steepest))

    return Plan(
        options,
        vocab,
        settings.size("max_seq_len"),
        scheme,
        lambda tensors: NAMES.read(tensors, options, vocab, ratio * dim, tied=True),
    )
