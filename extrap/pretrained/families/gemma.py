"""Gemma: norms of 1 + w, a scaled embedding, a GELU gate, most often a tied head.

Gemma 2 norms what attention and MLP add, too, has windows in every second layer, and caps logits
softly, those of attention and those of tokens. Gemma 3 norms queries and keys in place of the caps,
and has two rotations: one of its own base in windows, five layers of six, and one, which may be
scaled, where all is seen. Both divide scores by sqrt(query_pre_attn_scalar) and not by sqrt(D): the
difference goes into the weights of queries. Sources: arXiv 2403.08295, 2408.00118, 2503.19786.
"""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from extrap.model.scheme import Scheme, Shape
from extrap.model.stack import Only, Stack
from extrap.pretrained.families.llama import NORMS, read
from extrap.pretrained.plan import GATED, Plan, Settings, Tensors
from extrap.pretrained.rope import rotation, turning, windowed
from extrap.pretrained.soft_cap import SoftCap
from extrap.schemes.window import Window

MODEL_TYPES = ("gemma", "gemma2", "gemma3_text")
SANDWICH = {
    "norm1": "input_layernorm",
    "post1": "post_attention_layernorm",
    "norm2": "pre_feedforward_layernorm",
    "post2": "post_feedforward_layernorm",
}
PERIOD = {"gemma2": 2, "gemma3_text": 6}
"""Every so many layers one sees everything, where the config does not list them."""
MISSING: dict[str, dict[str, Any]] = {
    "gemma": {},
    "gemma2": {
        "sliding_window": 4096,
        "attn_logit_softcapping": 50.0,
        "final_logit_softcapping": 30.0,
    },
    "gemma3_text": {"sliding_window": 4096},
}
"""What transformers takes where a config does not hold an entry; null is none."""
BASES = {"full_attention": 1e6, "sliding_attention": 1e4}


def plan(settings: Settings) -> Plan:
    kind = settings.get("model_type")
    first, third = kind == "gemma", kind == "gemma3_text"
    settings = Settings(MISSING[kind] | dict(settings.values), settings.place)
    dim, heads = settings.size("hidden_size"), settings.size("num_attention_heads")
    layers = settings.size("num_hidden_layers")
    D = settings.size("head_dim", default=256)
    act = "hidden_activation" if settings.get("hidden_activation") else "hidden_act"
    options = {
        "dim": dim,
        "layers": layers,
        "heads": heads,
        "kv_heads": settings.size("num_key_value_heads", default=heads),
        "head_dim": None if D * heads == dim else D,
        "norm": "rms",
        "eps": settings.number("rms_norm_eps", 1e-6),
        "mlp": settings.one_of(act, GATED, "gelu_pytorch_tanh"),
        "ratio": settings.size("intermediate_size") / dim,
        "head": "shared" if settings.get("tie_word_embeddings", True) else "untied",
        "bias": "attention" if settings.get("attention_bias", False) else "none",
        "qk_norm": "head" if third else None,
        "embedding_scale": dim**0.5,
        "post_norm": None if first else "rms",
        "logit_cap": None if first else _cap(settings, "final_logit_softcapping"),
    }
    slower = 1.0 if first else (D / settings.number("query_pre_attn_scalar", 256)) ** 0.5

    def weights(tensors: Tensors) -> dict[str, Tensor]:
        norms = NORMS if first else SANDWICH
        found = read(tensors, settings, options, D, norms, shift=1.0)
        for n in range(layers):
            if third:
                found[f"blocks.{n}.norm_q.weight"] *= slower
            elif slower != 1:
                for name in (f"blocks.{n}.qkv.weight", f"blocks.{n}.qkv.bias"):
                    if name in found:
                        found[name] = found[name].float()
                        found[name][: heads * D] *= slower
        return found

    def scheme(shape: Shape) -> Scheme:
        if first:
            return turning(settings, shape)
        listed = _listed(settings, layers, PERIOD[kind])
        return _two_rotations(listed, shape) if third else _capped(listed, shape)

    return Plan(
        options,
        settings.size("vocab_size"),
        settings.size("max_position_embeddings"),
        scheme,
        weights,
    )


def _cap(settings: Settings, name: str) -> float | None:
    return None if settings.get(name) is None else settings.number(name, 0.0)


def _listed(settings: Settings, layers: int, period: int) -> Settings:
    """The same config with layer_types in it."""
    names = "sliding_window_pattern", "_sliding_window_pattern"
    period = settings.size(*names, default=period)
    kinds = ["sliding_attention" if (n + 1) % period else "full_attention" for n in range(layers)]
    given = settings.get("layer_types", kinds)
    return Settings(dict(settings.values) | {"layer_types": given}, settings.place)


def _capped(settings: Settings, shape: Shape) -> Scheme:
    turned = turning(settings, shape)
    cap = _cap(settings, "attn_logit_softcapping")
    return turned if cap is None else Stack(shape, [turned, SoftCap(shape, cap)])


def _two_rotations(settings: Settings, shape: Shape) -> Scheme:
    sliding, window = windowed(settings, shape.layers)
    parts: list[Scheme] = []
    for kind, layers in (
        ("full_attention", [n for n in range(shape.layers) if n not in sliding]),
        ("sliding_attention", sliding),
    ):
        if layers:
            turned = rotation(_rotation_of(settings, kind), shape)
            parts += [Only(shape, part, layers) for part in turned]
    if sliding:
        parts.append(Only(shape, Window(shape, window), sliding))
    return Stack(shape, parts)


def _rotation_of(settings: Settings, kind: str) -> Settings:
    """The config as it would be if all layers were of this kind. In files of transformers 4 the
    base of windows stands by itself, and rope_scaling is about the other layers.
    """
    nested = settings.get("rope_parameters", {})
    if not isinstance(nested, Mapping) or not set(nested) <= set(BASES):
        raise settings.refusal("rope_parameters", nested, f"a table by {' and '.join(BASES)}")
    full = kind == "full_attention"
    own: dict[str, Any] = {"rope_type": "default"} | dict(nested.get(kind) or {})
    if full:
        own |= settings.get("rope_scaling", {})
    if own.get("rope_theta") is None:
        older = settings.get("rope_theta" if full else "rope_local_base_freq")
        own["rope_theta"] = BASES[kind] if older is None else older
    left = {"rope_parameters", "rope_scaling", "rope_theta"}
    kept = {name: value for name, value in settings.values.items() if name not in left}
    return Settings(kept | {"rope_parameters": own}, settings.place)
