"""A model of our own as a folder that transformers reads: config.json and model.safetensors.

    RoPE on all channels, RMS norms, a SwiGLU MLP         Llama
    RoPE on all channels or the first, layer norms        GPT-NeoX
    a learned table at the input, layer norms, no gate    GPT-2
    ALiBi, layer norms, a norm of the embedding           BLOOM
    ALiBi, layer norms, no bias anywhere                  MPT

Biases that a model lacks are written as zeros, a head that reads the embedding divided by sqrt(C)
as a matrix of its own. The logits are the same. What has no equal there is refused, with the option
that would have one.
"""

import json
from pathlib import Path
from typing import Any

from torch import nn

from extrap.model.gpt import GPT
from extrap.pretrained.exports import alibi, gpt2, llama, neox
from extrap.schemes.alibi import ALiBi
from extrap.schemes.learned import Learned
from extrap.schemes.partial_rope import PartialRoPE
from extrap.schemes.rope import RoPE
from extrap.utils.errors import UserError

SCHEMES = {RoPE: llama, PartialRoPE: neox, Learned: gpt2, ALiBi: alibi}


def export(model: GPT, folder: Path, **entries: Any) -> None:
    """Writes the folder. entries: more for config.json, such as bos_token_id. Raises UserError for
    a model that no architecture there is equal to, and without the package safetensors.
    """
    try:
        from safetensors.torch import save_file
    except ImportError:
        raise UserError(
            "export",
            problem="needs the package safetensors",
            remedy="pip install 'extrap[pretrained]'",
        ) from None

    kind = type(model.scheme)
    if kind not in SCHEMES or "spectrum" in vars(model.scheme):
        known = ", ".join(scheme.__name__ for scheme in SCHEMES)
        raise UserError(
            "export",
            problem=f"{kind.__name__} has no equal in transformers",
            remedy=f"train one of {known}, without other parts",
        )
    layered = isinstance(model.norm, nn.LayerNorm) and model.blocks[0].gate is None
    config, weights = (neox if kind is RoPE and layered else SCHEMES[kind]).exported(model)
    folder.mkdir(parents=True, exist_ok=True)
    plain = {name: t.detach().contiguous().clone() for name, t in weights.items()}
    save_file(plain, folder / "model.safetensors", metadata={"format": "pt"})
    text = json.dumps(config | entries, indent=1)
    (folder / "config.json").write_text(text, encoding="utf-8")
