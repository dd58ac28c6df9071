"""The tokenizer inside a GGUF file, built from parts of the package tokenizers: byte-level BPE.

How text is cut before pairs are merged is a name in the file, tokenizer.ggml.pre. `smollm` splits
every digit from its neighbours before the pattern of GPT-2; a reader that does not know the name
and takes GPT-2's merges digits that training never saw together.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from extrap.pretrained.seam import installed
from extrap.utils.errors import UserError

CONTROL, USER_DEFINED = 3, 4
QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
AS_GPT2 = ("gpt-2", "phi-2", "mpt", "olmo", "jais")
"""Ways of cutting with the pattern of GPT-2. Source: llama.cpp, src/llama-vocab.cpp"""
LLAMA3 = QWEN2.replace(r"|\p{N}|", r"|\p{N}{1,3}|")


def tokenizer(path: Path, fields: dict[str, Any]) -> Any:
    """Returns a tokenizers.Tokenizer. Raises UserError for an unknown kind or way of cutting, and
    an error of any class for a field that is missing or of another type.
    """
    with installed(path):
        from tokenizers import AddedToken, Tokenizer, decoders, models
    kind = fields.get("tokenizer.ggml.model")
    if kind != "gpt2":
        problem = f"tokenizer.ggml.model={kind!s:.40} is not supported"
        raise UserError(path, problem=problem, remedy="gpt2, byte-level BPE, is")
    words = fields["tokenizer.ggml.tokens"]
    merges = fields["tokenizer.ggml.merges"]
    kinds = fields.get("tokenizer.ggml.token_type", [])
    # the tokenizer of Llama 3 takes a word that is a token whole, whatever its merges would make
    whole = fields.get("tokenizer.ggml.pre") == "llama-bpe"
    numbers = {word: n for n, word in enumerate(words)}
    pairs = [tuple(merge.split(" ", 1)) for merge in merges]
    made = Tokenizer(models.BPE(numbers, pairs, ignore_merges=whole))
    made.pre_tokenizer = _cut(path, fields.get("tokenizer.ggml.pre"))
    made.decoder = decoders.ByteLevel()
    special = [w for w, k in zip(words, kinds, strict=False) if k == CONTROL]
    defined = [w for w, k in zip(words, kinds, strict=False) if k == USER_DEFINED]
    made.add_special_tokens([AddedToken(word, normalized=False) for word in special])
    made.add_tokens([AddedToken(word, normalized=False) for word in defined])
    return made


def chat_entries(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns tokenizer_config.json: the chat template, and the tokens that it may name."""
    words = fields.get("tokenizer.ggml.tokens") or []
    found = {"chat_template": fields.get("tokenizer.chat_template")}
    for name in ("bos", "eos"):
        i = fields.get(f"tokenizer.ggml.{name}_token_id")
        known = isinstance(i, int) and 0 <= i < len(words)
        found[f"{name}_token"] = words[i] if known else None
    return {name: value for name, value in found.items() if value is not None}


def check_cut(path: Path, fields: dict[str, Any], known: Collection[str]) -> None:
    """Raises UserError for a way of cutting that transformers, which knows these, takes for GPT-2's
    and which is another.
    """
    pre = fields.get("tokenizer.ggml.pre")
    if fields.get("tokenizer.ggml.model") == "gpt2" and pre not in (*AS_GPT2, *known):
        problem = f"tokenizer.ggml.pre={pre!s:.40} is not supported: transformers leaves it out"
        raise UserError(path, problem=problem, remedy="give the folder of the checkpoint")


def _cut(path: Path, pre: str | None) -> Any:
    from tokenizers import Regex, pre_tokenizers

    plain = pre_tokenizers.ByteLevel(add_prefix_space=False)
    after = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)

    def pattern(regex: str) -> Any:
        split = pre_tokenizers.Split(Regex(regex), "isolated")
        return pre_tokenizers.Sequence([split, after])

    digits = pre_tokenizers.Digits(individual_digits=True)
    known = {
        "gpt-2": plain,
        "smollm": pre_tokenizers.Sequence([digits, plain]),
        "qwen2": pattern(QWEN2),
        "llama-bpe": pattern(LLAMA3),
    }
    if pre not in [*known]:
        problem = f"tokenizer.ggml.pre={pre!s:.40} is not supported"
        raise UserError(path, problem=problem, remedy=f"one of {', '.join(known)} is")
    return known[pre]
