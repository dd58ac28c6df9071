"""A model of our own as a folder that transformers reads, with the same logits, and its tokenizer.
extrap/pretrained/families.py says which models have an equal there.
"""

import json
from pathlib import Path
from typing import Any

from torch import nn

from extrap.data.encoder import BYTES
from extrap.data.vocabulary import Vocabulary
from extrap.model.gpt import GPT
from extrap.pretrained.families import BLOOM, GPT2, MPT, Llama, NeoX
from extrap.pretrained.family import Family
from extrap.pretrained.seam import installed
from extrap.schemes.alibi import ALiBi
from extrap.schemes.learned import Learned
from extrap.schemes.partial_rope import PartialRoPE
from extrap.schemes.rope import RoPE
from extrap.utils.errors import UserError

BOS = "<bos>"
PRINTING = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
LETTERS = {chr(b): b for b in PRINTING}
LETTERS |= {chr(256 + n): b for n, b in enumerate(sorted({*range(256)} - {*PRINTING}))}
"""The letter of each byte in byte-level tokenizers: itself if it prints. Source: GPT-2."""


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


def write_tokenizer(vocabulary: Vocabulary, length: int, folder: Path) -> None:
    """Writes tokenizer.json and tokenizer_config.json of a vocabulary of bytes. length: L in
    tokens. Raises UserError without the package tokenizers.

    Id b is byte b, 256 BOS, which a text begins with; then come keys and values, `<k0>` and `<v0>`,
    in the ids that a model was trained with.
    """
    with installed("export"):
        from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors
    assert vocabulary.encoder is BYTES
    made = Tokenizer(models.BPE(LETTERS, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(BOS, normalized=False)])
    records = [f"<k{i}>" for i in range(vocabulary.keys)]
    records += [f"<v{i}>" for i in range(vocabulary.values)]
    made.add_tokens([AddedToken(word, normalized=False) for word in records])
    made.post_processor = processors.TemplateProcessing(
        single=f"{BOS} $A", pair=f"{BOS} $A $B", special_tokens=[(BOS, vocabulary.bos)]
    )
    assert made.get_vocab_size() == vocabulary.size and made.token_to_id(BOS) == vocabulary.bos
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": BOS,
        "model_max_length": length,
        "clean_up_tokenization_spaces": False,
    }
    made.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
