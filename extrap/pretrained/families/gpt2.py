"""GPT-2: a learned table of positions, layer norms, biases everywhere, most often a tied head.
Matrices lie transposed in the file.
"""

from torch import Tensor

from extrap.pretrained.names import Names
from extrap.pretrained.plan import ACTIVATIONS, Plan, Settings, Tensors
from extrap.schemes.learned import Learned

MODEL_TYPES = ("gpt2",)
NAMES = Names(
    prefix="transformer.",
    block="h.{}",
    linears={"qkv": "attn.c_attn", "out": "attn.c_proj", "up": "mlp.c_fc", "down": "mlp.c_proj"},
    norms={"norm1": "ln_1", "norm2": "ln_2"},
    outside={"embedding": "wte", "norm": "ln_f"},
    head="lm_head",
    transposed=True,
    ignored=(".attn.bias", ".attn.masked_bias"),
)
TABLE = "wpe.weight"


def plan(settings: Settings) -> Plan:
    settings.only("scale_attn_weights", True)
    settings.only("scale_attn_by_inverse_layer_idx", False)
    settings.only("add_cross_attention", False)
    tied = bool(settings.get("tie_word_embeddings", True))
    dim, vocab = settings.size("n_embd"), settings.size("vocab_size")
    hidden = settings.size("n_inner", default=4 * dim)
    rows = settings.size("n_positions", "n_ctx")
    options = {
        "dim": dim,
        "layers": settings.size("n_layer"),
        "heads": settings.size("n_head"),
        "norm": "layer",
        "eps": settings.number("layer_norm_epsilon", 1e-5),
        "mlp": settings.one_of("activation_function", ACTIVATIONS, "gelu_new"),
        "ratio": hidden / dim,
        "head": "shared" if tied else "untied",
        "bias": "all",
    }

    def weights(tensors: Tensors) -> dict[str, Tensor]:
        found = NAMES.read(tensors, options, vocab, hidden, tied)
        return found | {"scheme.table": tensors.take(TABLE, rows, dim)[None]}

    return Plan(options, vocab, rows, lambda shape: Learned(shape, rows), weights)
