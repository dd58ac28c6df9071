"""GGUF, the single-file format of llama.cpp, unpacked once into a folder as transformers has it:
config.json, model.safetensors, tokenizer.json, tokenizer_config.json.

Quantised weights become float32 by the package gguf. An architecture that this file does not know,
such as gemma3, is written as transformers reads it. The folder is named by the hash of the file
and appears under its name when it is whole: one process at a time writes another folder and
renames that, and removes a half that an interrupted attempt left.

Of a file that gives its tokenizer alone, as for an engine, the fields are read and no weights.

In files of architecture `llama` the rows of query and key projections are permuted, so that pairs
lie side by side: they are read as they are, under the layout `interleaved`.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from extrap.pretrained.gguf_config import check_keys, complete
from extrap.pretrained.gguf_rope import check_read, number, original, rope_parameters
from extrap.pretrained.gguf_tokenizer import chat_entries, check_cut, tokenizer
from extrap.pretrained.loading import load
from extrap.pretrained.scaling import GIVEN
from extrap.pretrained.seam import installed, one_line, reason, transformers
from extrap.pretrained.size import as_large_as
from extrap.utils import atomic
from extrap.utils.errors import UserError
from extrap.utils.lock import alone
from extrap.utils.untrusted import LARGER, fits_memory

LAYOUTS = {"llama": "interleaved", "qwen2": "half", "qwen3": "half"}
TENSORS = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
IN_LAYER = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
DIVISORS = "rope_freqs.weight"
WORDS = {"qwen2_moe": "qwen2moe", "qwen3_moe": "qwen3moe", "minimax_m2": "minimax-m2"}
WORDS |= {"gpt_oss": None}
"""By the word of transformers: the word of a file; None where it reads a part of the tensors."""
EACH_LAYER = ("attention.head_count", "attention.head_count_kv", "feed_forward_length")
"""Keys of a number, or of a number for each layer."""
VERSION = 8
"""The version of the content of a folder; extrap makes a folder of another version again."""
HEAD = 2**26
"""Bytes at the beginning of a file that hold its fields, the tokenizer among them."""


def unpacked(path: Path, cache: Path, weights: bool = True) -> Path:
    """Returns the folder of a GGUF file, made at the first call. Without weights the folder holds
    the tokenizer, the context and the size of the vocabulary. Raises UserError if damaged.
    """
    if weights and not fits_memory(path):
        raise UserError(path, problem=LARGER)
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise UserError(path, problem="not a GGUF file")
        file.seek(0)
        read = hashlib.file_digest(file, "sha256") if weights else hashlib.sha256(file.read(HEAD))
    part = "" if weights else "-tokenizer"
    folder = cache / f"{read.hexdigest()[:16]}-{VERSION}{part}"
    atomic.check_way(folder)
    if folder.is_dir():
        return folder
    atomic.make_folder(cache)
    half = cache / f".{folder.name}.tmp"
    with alone(cache, "gguf"):
        if folder.is_dir():  # another process made it
            return folder
        shutil.rmtree(half, ignore_errors=True)  # of a process that was killed
        half.mkdir()
        try:
            (_unpack if weights else _unpack_tokenizer)(path, half)
            os.rename(half, folder)
        finally:
            shutil.rmtree(half, ignore_errors=True)
    return folder


def _unpack(path: Path, folder: Path) -> None:
    with installed(path):
        from gguf import GGUFReader, dequantize
        from safetensors.torch import save_file
    with _whole(path):  # weights are numbers, which take memory and time, after every check
        reader = GGUFReader(path)
        fields = _fields(reader)
        _check_whole(path, fields, len(reader.tensors))
        if fields.get("general.architecture") in _of_transformers():
            return _through_transformers(path, folder, fields, [t.name for t in reader.tensors])
        tensors = {t.name: t for t in reader.tensors}
        config = _config(path, fields, tensors)
        _write_tokenizer(path, folder, fields)
        names = {name: _named(path, name) for name in tensors if name != DIVISORS}
        named = {}
        for name, own in names.items():
            numbers = dequantize(tensors[name].data, tensors[name].tensor_type)
            named[own] = torch.from_numpy(numbers.copy())
    (folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    save_file(named, folder / "model.safetensors")


def _unpack_tokenizer(path: Path, folder: Path) -> None:
    with installed(path):
        from gguf import GGUFReader
    with _whole(path):
        reader = GGUFReader(path)  # maps the weights, and reads none
        fields = _fields(reader)
        _check_no_adapter(path, fields)
        if fields.get("split.count", 1) > 1 and fields.get("split.no", 0) > 0:
            remedy = "give part 1, which holds the tokenizer"
            raise UserError(path, problem=_part(fields), remedy=remedy)
        kind = fields.get("general.architecture")
        if kind in _of_transformers():
            _tokenizer_of_transformers(path, fields).save_pretrained(folder)
        else:
            _write_tokenizer(path, folder, fields)
        rows = {t.name: int(t.shape[-1]) for t in reader.tensors}
        words = len(fields["tokenizer.ggml.tokens"])
    config = {
        "vocab_size": rows.get("token_embd.weight", words),
        "max_position_embeddings": fields.get(f"{kind}.context_length"),
        "bos_token_id": fields.get("tokenizer.ggml.bos_token_id"),
        "eos_token_id": fields.get("tokenizer.ggml.eos_token_id"),
    }
    (folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    """Turns into one line whatever the libraries raise for a field of another type."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        problem = f"cut short or damaged ({reason(error):.80})"
        raise UserError(path, problem=problem) from None


def _fields(reader: Any) -> dict[str, Any]:
    return {name: field.contents() for name, field in reader.fields.items()}


def _write_tokenizer(path: Path, folder: Path, fields: dict[str, Any]) -> None:
    made = tokenizer(path, fields)
    (folder / "tokenizer.json").write_text(made.to_str(), encoding="utf-8")
    more = json.dumps(chat_entries(fields), indent=1)
    (folder / "tokenizer_config.json").write_text(more, encoding="utf-8")


def _check_whole(path: Path, fields: dict[str, Any], tensors: int) -> None:
    """Raises UserError for a file that is no whole decoder."""
    count = fields.get("split.count")
    if isinstance(count, int) and count > 1:
        remedy = "join the parts, as in llama-gguf-split --merge FIRST_PART WHOLE.gguf"
        raise UserError(path, problem=_part(fields), remedy=remedy)
    _check_no_adapter(path, fields)
    if not tensors:
        problem, remedy = "a vocabulary without weights", "give the file of a whole model"
        raise UserError(path, problem=problem, remedy=remedy)
    causal = f"{fields.get('general.architecture')}.attention.causal"
    if fields.get(causal) is False:
        problem = f"{causal}=false: its tokens see later ones, as in a model of embeddings"
        raise UserError(path, problem=problem, remedy="give a decoder")


def _part(fields: dict[str, Any]) -> str:
    return f"part {fields.get('split.no', 0) + 1} of {fields['split.count']} of a split model"


def _check_no_adapter(path: Path, fields: dict[str, Any]) -> None:
    if fields.get("general.type") == "adapter":
        remedy = "merge the adapter into the model"
        raise UserError(path, problem="an adapter (general.type)", remedy=remedy)


def _of_transformers() -> list[str]:
    """Returns the architectures that transformers alone reads; [] without it."""
    try:
        from transformers.modeling_gguf_pytorch_utils import GGUF_SUPPORTED_ARCHITECTURES
    except ImportError:
        return []
    listed = [WORDS.get(kind, kind) for kind in GGUF_SUPPORTED_ARCHITECTURES]
    return [kind for kind in (*listed, *_by_mapping()) if kind is not None and kind not in LAYOUTS]


def _by_mapping() -> list[str]:
    """Returns the architectures that transformers reads by a mapping of every tensor."""
    try:
        from transformers.integrations.gguf import GGUF_CONFIG_ARCHS
    except ImportError:  # an older one
        return []
    return [*GGUF_CONFIG_ARCHS]


def _dequantised() -> dict[str, Any]:
    """Returns the option by which transformers makes numbers of all weights. Otherwise it fetches a
    kernel from the hub, if it can, and keeps their bits.
    """
    try:
        from transformers import GgufConfig
    except ImportError:  # an older one, which has no kernel
        return {}
    return {"quantization_config": GgufConfig(dequantize=True)}


def _through_transformers(
    path: Path, folder: Path, fields: dict[str, Any], tensors: list[str]
) -> None:
    """Writes the model that transformers makes of the file, or raises UserError."""
    from safetensors.torch import save_file

    kind = fields["general.architecture"]
    check_keys(path, fields, tensors)
    tokenizer = _tokenizer_of_transformers(path, fields)
    alone: dict[str, Any] = {"data": [path], "gguf_file": path.name}
    with as_large_as([path], len(tensors), str(path)), one_line(path):
        options = {"dtype": torch.float32, "output_loading_info": True} | _dequantised()
        model, read = load(transformers().AutoModelForCausalLM, **options, **alone)
        vars(model.config).pop("quantization_config", None)  # the weights are numbers now
        complete(path, fields, model.config)
        model.config.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    check_read(path, fields, tensors, model.config)
    _check_tensors(path, kind, tensors, model, read)
    own = {t.data_ptr(): (name, t.contiguous()) for name, t in reversed(model.state_dict().items())}
    save_file(dict(own.values()), folder / "model.safetensors", metadata={"format": "pt"})


def _tokenizer_of_transformers(path: Path, fields: dict[str, Any]) -> Any:
    from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS

    check_cut(path, fields, GGUF_PRE_TOKENIZER_SPLITS)
    with one_line(path):
        return load(transformers().AutoTokenizer, data=[path], gguf_file=path.name)


def _check_tensors(
    path: Path, kind: str, tensors: list[str], model: Any, read: dict[str, Any]
) -> None:
    """Raises UserError for a tensor that a file lacks, and for one that transformers leaves out;
    without a mapping of every tensor for norms and biases alone, as it reads experts under other
    names. read: the report of its loader
    """
    from transformers.modeling_gguf_pytorch_utils import (
        TENSOR_PROCESSORS,
        TensorProcessor,
        get_gguf_hf_weights_map,
    )

    remedy = "give the folder of the checkpoint"
    if lost := sorted(read["missing_keys"]):
        raise UserError(path, problem=f"lacks the tensor {lost[0]}", remedy=remedy)
    if kind in _by_mapping():
        unread = sorted(read["unexpected_keys"])
    else:
        processor = TENSOR_PROCESSORS.get(kind, TensorProcessor)
        known = get_gguf_hf_weights_map(model, processor())
        added = [name for name in tensors if "norm" in name or name.endswith(".bias")]
        unread = [name for name in added if name not in known]
    if unread:
        problem = f"transformers leaves out the tensor {unread[0]}"
        raise UserError(path, problem=problem, remedy=remedy)


def _named(path: Path, name: str) -> str:
    """Returns the name of a tensor in transformers."""
    stem, _, part = name.rpartition(".")
    if stem in TENSORS:
        return f"{TENSORS[stem]}.{part}"
    inside = re.fullmatch(r"blk\.(\d+)\.(\w+)", stem)
    if inside is None or inside[2] not in IN_LAYER:
        raise UserError(path, problem=f"tensor {name} is not one of a {', '.join(LAYOUTS)}")
    return f"model.layers.{inside[1]}.{IN_LAYER[inside[2]]}.{part}"


def _config(path: Path, fields: dict[str, Any], tensors: dict[str, Any]) -> dict[str, Any]:
    """Returns config.json. Raises UserError for a kind of model or of scaling that is not
    supported, and an error of any class for a missing field or one of another type.

    tensors: by name, not dequantised
    """
    from gguf import dequantize

    kind = fields.get("general.architecture")
    if kind not in [*LAYOUTS]:
        problem = f"general.architecture={kind!s:.40} is not supported"
        remedy = f"{', '.join(LAYOUTS)} are, and what transformers reads; else give the folder"
        raise UserError(path, problem=problem, remedy=remedy)

    fields = fields | _one_for_all_layers(path, kind, fields)

    def size(key: str, default: int | None = None) -> int:
        return int(number(kind, fields, key, default))

    heads, dim = size("attention.head_count"), size("embedding_length")
    head_dim = size("attention.key_length", dim // heads)
    turned = size("rope.dimension_count", head_dim)
    if turned != head_dim:
        problem = f"{kind}.rope.dimension_count={turned} of {head_dim} is not supported"
        raise UserError(path, problem=problem)
    divisors = None
    if (found := tensors.get(DIVISORS)) is not None:
        divisors = dequantize(found.data, found.tensor_type).tolist()
    rope = rope_parameters(path, kind, fields, head_dim // 2, divisors)
    scaled = {} if rope["rope_type"] == "default" else {GIVEN: original(kind, fields)}
    return scaled | {
        "model_type": kind,
        "hidden_size": dim,
        "num_hidden_layers": size("block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": size("attention.head_count_kv", heads),
        "head_dim": head_dim,
        "intermediate_size": size("feed_forward_length"),
        "rms_norm_eps": number(kind, fields, "attention.layer_norm_rms_epsilon"),
        "max_position_embeddings": size("context_length"),
        "vocab_size": int(tensors["token_embd.weight"].shape[-1]),
        "hidden_act": "silu",
        "tie_word_embeddings": "output.weight" not in tensors,
        "rope_parameters": rope,
        "extrap_layout": LAYOUTS[kind],
        "bos_token_id": fields.get("tokenizer.ggml.bos_token_id"),
        "eos_token_id": fields.get("tokenizer.ggml.eos_token_id"),
    }


def _one_for_all_layers(path: Path, kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    """Returns the number of each field that has one for each layer. Raises UserError if layers
    differ.
    """
    found = {}
    for name in (f"{kind}.{key}" for key in EACH_LAYER):
        value = fields.get(name)
        if not isinstance(value, list):
            continue
        if len({*value}) != 1:
            problem = f"{name}={value!s:.40}: layers that differ are not supported"
            raise UserError(path, problem=problem)
        found[name] = value[0]
    return found
