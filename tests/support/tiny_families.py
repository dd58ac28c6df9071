"""A tiny random model of every decoder family of transformers, found by its own table of configs.

`python -m tests.support.tiny_families [FAMILY ...]` writes what a probe finds in each into
extrap/pretrained/README.md; families without a tiny model or with an exception into
families_not_read.md there.
"""

import sys
from pathlib import Path
from typing import Any, cast

import torch
from torch import nn

from extrap.model.gpt import GPT
from extrap.model.parts import describe_parts
from extrap.pretrained.adapter import Adapted, adapt
from extrap.utils import markdown
from extrap.utils.errors import UserError

README = Path(__file__).parents[2] / "extrap" / "pretrained" / "README.md"
NOT_READ = README.with_name("families_not_read.md")
FAILS = "logits alone: a probe fails"
L, WINDOW, VOCAB = 64, 9, 61
SMALL: dict[str, Any] = {
    "vocab_size": VOCAB,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": L,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "sliding_window": WINDOW,
    "attention_chunk_size": 16,
    "intermediate_size_mlp": 48,
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "mamba_n_heads": 8,
    "mamba_d_head": 8,
    "mamba_d_state": 8,
    "is_decoder": True,
    "vocab_size_per_layer_input": VOCAB,
    "rotary_dim": 4,
    "n_shared_experts": 1,
    "n_group": 1,
    "topk_group": 1,
    "first_k_dense_replace": 1,
}
OPTIONAL = ("sliding_window", "attention_chunk_size", "q_lora_rank")
"""Left out where the family has none by default."""
LATENT = {
    "head_dim": 4,
    "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 8,
    "v_head_dim": 8,
    "q_lora_rank": 16,
    "kv_lora_rank": 16,
    "num_key_value_heads": 4,
}

OWN: dict[str, dict[str, Any]] = {
    "bamba": {"attn_layer_indices": [1, 3], "mamba_expand": 2},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1},
    "granitemoehybrid": {"layer_types": ["mamba", "attention"] * 2, "mamba_expand": 2},
    "falcon": {"alibi": False},
    "gpt_neo": {"attention_types": [[["global", "local"], 2]], "num_layers": 4},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 2},
    "granitemoe": {"attention_multiplier": 0.3},
    "granitemoeshared": {"attention_multiplier": 0.3},
    "gemma3n_text": {"num_kv_shared_layers": 0},
    "gemma4_text": {"num_kv_shared_layers": 0},
}
"""What a family needs beside."""


def families() -> list[str]:
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    return sorted(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)


def made(kind: str, **more: Any) -> Any:
    """Returns a model of the family, every weight drawn, with an option wherever the config has it.
    Raises whatever its own classes raise.
    """
    import transformers as t

    cls = t.CONFIG_MAPPING[kind]
    usual = cls()
    if getattr(usual, "sub_configs", None) and hasattr(usual, "text_config"):
        raise ValueError("reads more than text")
    known = {name: value for name, value in SMALL.items() if _takes(cls, usual, name)}
    if hasattr(usual, "qk_rope_head_dim"):
        known |= LATENT
    kinds = [*dict.fromkeys(getattr(usual, "layer_types", None) or [])]
    if kinds and _takes(cls, usual, "layer_types"):
        known["layer_types"] = [kinds[n % len(kinds)] for n in range(4)]
    known |= OWN.get(kind, {})
    torch.manual_seed(0)
    with torch.device("meta"):
        size = sum(p.numel() for p in _of(t, cls(**known | more)).parameters())
    if size > 5e6:  # its config has parts that these options do not reach
        raise ValueError("has no tiny form")
    found = _of(t, cls(**known | more)).eval().float()
    for name, p in found.named_parameters():
        p.data = torch.randn_like(p) * (0.5 if p.dim() == 1 else 1.4 * p.shape[-1] ** -0.5)
        if p.dim() == 1 and "norm" in name and name.endswith("weight"):
            p.data += 1.0
        if "q_norm" in name:  # else a softmax of few wide heads is as good as a maximum
            p.data *= 0.2
    return found


VISION = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "depth": 1,
    "num_hidden_layers": 1,
    "num_heads": 2,
    "num_attention_heads": 2,
    "out_hidden_size": 32,
    "vision_output_dim": 32,
    "projector_input_dim": 32,
    "projector_output_dim": 32,
    "image_size": 28,
}


def with_pictures(kind: str, **more: Any) -> Any:
    """Returns a tiny model of a family that reads pictures as well. more: options of its text."""
    import transformers as t

    cls = t.CONFIG_MAPPING[kind]
    text = made(cls.sub_configs["text_config"].model_type, **more).config.to_dict()
    usual = cls().vision_config
    vision = {name: x for name, x in VISION.items() if hasattr(usual, name)}
    vision["model_type"] = usual.model_type
    config = cls(text_config=text, vision_config=vision)
    torch.manual_seed(0)
    return t.AutoModelForImageTextToText.from_config(config, dtype=torch.float32).eval()


def _takes(cls: type, usual: Any, name: str) -> bool:
    """True if a config has an option that can be set."""
    own = getattr(cls, name, None)
    if isinstance(own, property) and own.fset is None:
        return False
    try:
        value = getattr(usual, name)
    except Exception:  # one that differs from layer to layer
        return False
    return value is not None or name not in OPTIONAL


def _of(t: Any, config: Any) -> Any:
    return t.AutoModelForCausalLM.from_config(config, dtype=torch.float32)


def outcome(kind: str) -> str:
    """Returns, in words, what the adapter reaches in a tiny model of the family, or why not."""
    try:
        model = made(kind)
    except Exception as error:
        return f"not made: {' '.join(str(error).split()):.80}".strip()
    try:
        return described(adapt(model, L))
    except UserError as error:
        return f"logits alone: {error.problem}"


def described(model: GPT) -> str:
    """Returns what kinds of layers a model has."""
    if not isinstance(model, Adapted):
        return f"a GPT of ours: {describe_parts(model.scheme)}"
    layers, words = model.layers, []
    turning = [layer for layer in layers if len(layer.pairs)]
    if not turning:
        return "no layer turns"
    share = {2 * len(layer.pairs) == layer.width for layer in turning}
    every = model.net.get_submodule(layers[0].block.rpartition(".")[0])
    some = "" if len(turning) == len(layers) else "some layers turn, "
    some += "some stay as they are, " if len(layers) < len(cast("nn.ModuleList", every)) else ""
    side = {abs(int(layer.pairs[0, 0] - layer.pairs[0, 1])) > 1 for layer in turning}
    words.append(some + ("all channels" if share == {True} else "a part of the channels"))
    words.append(
        "halves" if side == {True} else "neighbours" if side == {False} else "both layouts"
    )
    bases = {tuple(layer.theta(L).tolist()) for layer in turning}
    words += ["two rotations"] * (len(bases) > 1)
    for name in ("window", "chunk", "cap", "sink"):
        words += [f"{name}s"] * any(getattr(layer, name) for layer in layers)
    return "; ".join(words)


def table(outcomes: dict[str, str]) -> str:
    """Returns the table of families as Markdown: what was reached, and in which."""
    found: dict[str, list[str]] = {}
    for kind in sorted(outcomes):
        found.setdefault(outcomes[kind], []).append(kind)
    order = sorted(found, key=lambda o: (o.startswith(("logits", "not")), -len(found[o]), o))
    rows = [(outcome, ", ".join(found[outcome])) for outcome in order]
    return markdown.table([("a probe finds", "families"), *rows])


def works(outcome: str) -> bool:
    """True if extrap reads a tiny model of the family, be it for its logits alone."""
    return not outcome.startswith(("not made", FAILS))


def listed() -> dict[str, str]:
    """Returns {family: outcome} of the tables in both files."""
    found = {}
    for file in (README, NOT_READ):
        _, _, text = file.read_text().partition("<!-- families -->")
        inside, _, _ = text.partition("<!-- /families -->")
        for line in inside.strip().splitlines()[2:]:
            outcome, kinds = line.strip("| ").split(" | ")
            found |= dict.fromkeys(kinds.split(", "), outcome)
    return found


def write(outcomes: dict[str, str]) -> None:
    """Writes the tables of both files."""
    for file, wanted in ((README, True), (NOT_READ, False)):
        own = {kind: says for kind, says in outcomes.items() if works(says) == wanted}
        page = markdown.between(file.read_text(), "families", table(own))
        file.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    outcomes = listed() if sys.argv[1:] else {}
    for kind in sys.argv[1:] or families():
        outcomes[kind] = outcome(kind)
        print(f"{kind}: {outcomes[kind]}", flush=True)
    write(outcomes)
