"""A model of our own as a folder that transformers reads: config.json and model.safetensors, with
the same logits. extrap/pretrained/families.py says which models have an equal there.
"""

import json
from pathlib import Path
from typing import Any

from torch import nn

from extrap.model.gpt import GPT
from extrap.pretrained.families import BLOOM, GPT2, MPT, Llama, NeoX
from extrap.pretrained.family import Family
from extrap.pretrained.seam import installed
from extrap.schemes.alibi import ALiBi
from extrap.schemes.learned import Learned
from extrap.schemes.partial_rope import PartialRoPE
from extrap.schemes.rope import RoPE
from extrap.utils.errors import UserError


def export(model: GPT, folder: Path, **entries: Any) -> None:
    """Writes the folder. entries: more for config.json, such as bos_token_id. Raises UserError for
    a model without an equal in transformers, and without the package safetensors.
    """
    with installed("export"):
        from safetensors.torch import save_file
    family = family_of(model)
    if family is None or "spectrum" in vars(model.scheme):
        problem = f"{type(model.scheme).__name__} has no equal in transformers"
        remedy = "train one of RoPE, PartialRoPE, Learned, ALiBi, without other parts"
        raise UserError("export", problem=problem, remedy=remedy)
    config, weights = family.exported(model)
    folder.mkdir(parents=True, exist_ok=True)
    plain = {name: t.detach().contiguous().clone() for name, t in weights.items()}
    save_file(plain, folder / "model.safetensors", metadata={"format": "pt"})
    text = json.dumps(config | entries, indent=1)
    (folder / "config.json").write_text(text, encoding="utf-8")


def family_of(model: GPT) -> Family | None:
    """Returns the family in which a model of our own may have an equal, by its scheme."""
    kind = type(model.scheme)
    if kind is RoPE:
        layered = isinstance(model.norm, nn.LayerNorm) and model.blocks[0].gate is None
        return NeoX() if layered else Llama()
    if kind is ALiBi:
        return BLOOM() if model.embedding_norm is not None else MPT()
    return {PartialRoPE: NeoX, Learned: GPT2}.get(kind, lambda: None)()
