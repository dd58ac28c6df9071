"""The tokenizer inside a GGUF file, built from parts of the package tokenizers: byte-level BPE.

How text is cut before pairs are merged is a name in the file, tokenizer.ggml.pre. `smollm` splits
every digit from its neighbours before the pattern of GPT-2; a reader that does not know the name
and takes GPT-2's merges digits that training never saw together.
"""

from pathlib import Path
from typing import Any

from extrap.pretrained.seam import installed
from extrap.utils.errors import UserError

CONTROL, USER_DEFINED = 3, 4
QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA3 = QWEN2.replace(r"|\p{N}|", r"|\p{N}{1,3}|")


def tokenizer(path: Path, fields: dict[str, Any]) -> Any:
    """Returns a tokenizers.Tokenizer. Raises UserError for an unknown kind or way of cutting."""
    with installed(path):
        from tokenizers import AddedToken, Tokenizer, decoders, models
    kind = fields.get("tokenizer.ggml.model")
    if kind != "gpt2":
        problem = f"tokenizer.ggml.model={kind!s:.40} is not supported"
        raise UserError(path, problem=problem, remedy="gpt2, byte-level BPE, is")
    words, merges, kinds = (
        _list(path, fields, name) for name in ("tokens", "merges", "token_type")
    )
    if not words or "tokenizer.ggml.merges" not in fields:
        remedy = "tokenizer.ggml.tokens or merges is missing"
        raise UserError(path, problem="holds no tokenizer", remedy=remedy)
    pairs = [tuple(merge.split(" ", 1)) for merge in merges]
    if bad := [merge for merge, pair in zip(merges, pairs, strict=True) if len(pair) != 2]:
        problem = f"tokenizer.ggml.merges holds {bad[0]!r:.40}: expected two parts, a space between"
        raise UserError(path, problem=problem)
    # the tokenizer of Llama 3 takes a word that is a token whole, whatever its merges would make
    whole = fields.get("tokenizer.ggml.pre") == "llama-bpe"
    numbers = {word: n for n, word in enumerate(words)}
    try:
        made = Tokenizer(models.BPE(numbers, pairs, ignore_merges=whole))
    except Exception as error:  # the library raises nothing narrower
        raise UserError(path, problem=f"no tokenizer of byte-level BPE ({error!s:.80})") from None
    made.pre_tokenizer = _cut(path, fields.get("tokenizer.ggml.pre"))
    made.decoder = decoders.ByteLevel()
    special = [w for w, k in zip(words, kinds, strict=False) if k == CONTROL]
    defined = [w for w, k in zip(words, kinds, strict=False) if k == USER_DEFINED]
    made.add_special_tokens([AddedToken(word, normalized=False) for word in special])
    made.add_tokens([AddedToken(word, normalized=False) for word in defined])
    return made


def _list(path: Path, fields: dict[str, Any], name: str) -> list[Any]:
    """Returns an entry that is a list, [] if it is missing. Raises UserError for another kind."""
    found = fields.get(f"tokenizer.ggml.{name}", [])
    kind, expected = (int, "numbers") if name == "token_type" else (str, "texts")
    if not isinstance(found, list) or not all(isinstance(one, kind) for one in found):
        problem = f"tokenizer.ggml.{name}={found!s:.40}: expected a list of {expected}"
        raise UserError(path, problem=problem)
    return found


def chat_entries(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns tokenizer_config.json: the chat template, and the tokens that it may name."""
    words = fields.get("tokenizer.ggml.tokens") or []
    found = {"chat_template": fields.get("tokenizer.chat_template")}
    for name in ("bos", "eos"):
        i = fields.get(f"tokenizer.ggml.{name}_token_id")
        known = isinstance(i, int) and 0 <= i < len(words)
        found[f"{name}_token"] = words[i] if known else None
    return {name: value for name, value in found.items() if value is not None}


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
