"""A tiny GGUF file of architecture llama, with a byte-level tokenizer of a few merges inside."""

import json
from pathlib import Path

from extrap.model.rotary import relayout

SPECIAL = ["<|endoftext|>", "<|im_start|>"]
MERGES = ["t h", "Ġ th", "Ġth e", "1 2", "12 3", "a n"]
WHOLE = "unmerged"  # a token that no merges make
NAMES = {"embed_tokens": "token_embd", "norm": "output_norm", "lm_head": "output"}
NAMES |= {f"{part}_proj": f"ffn_{part}" for part in ("gate", "up", "down")}
NAMES |= {f"{part}_proj": f"attn_{part}" for part in "qkv"}
NAMES |= {"o_proj": "attn_output", "input_layernorm": "attn_norm"}
LLAMA = NAMES | {"post_attention_layernorm": "ffn_norm"}
GEMMA = NAMES | {
    "post_attention_layernorm": "post_attention_norm",
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
    "q_norm": "attn_q_norm",
    "k_norm": "attn_k_norm",
}
"""By the word of transformers: the word of llama.cpp."""


def words() -> list[str]:
    from tokenizers.pre_tokenizers import ByteLevel

    merged = [merge.replace(" ", "") for merge in MERGES]
    return [*SPECIAL, *sorted(ByteLevel.alphabet()), *merged, WHOLE]


def _begun(path: Path, architecture: str, c, base: float):
    """A file with the sizes of a config."""
    from gguf import GGUFWriter

    out = GGUFWriter(path, architecture)
    out.add_block_count(c.num_hidden_layers)
    out.add_context_length(c.max_position_embeddings)
    out.add_embedding_length(c.hidden_size)
    out.add_feed_forward_length(c.intermediate_size)
    out.add_head_count(c.num_attention_heads)
    out.add_head_count_kv(c.num_key_value_heads)
    out.add_rope_freq_base(base)
    out.add_layer_norm_rms_eps(c.rms_norm_eps)
    return out


def _further(out, fields: dict) -> None:
    """Adds further fields: words, whole numbers, lists of numbers, numbers."""
    kinds = {str: out.add_string, bool: out.add_bool, int: out.add_uint32, list: out.add_array}
    for name, value in fields.items():
        kinds.get(type(value), out.add_float32)(name.replace("__", "."), value)


def _tensors(model, names: dict[str, str]):
    """(last word of transformers, name of llama.cpp, tensor) of each weight."""
    for name, p in model.state_dict().items():
        *place, last, part = name.removeprefix("model.").split(".")
        layer = f"blk.{place[1]}." if place else ""
        yield last, f"{layer}{names[last]}.{part}", p.detach()


def _ended(out, path: Path) -> Path:
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    return path


def written(
    path: Path,
    model,
    pre: str = "smollm",
    quantised: bool = False,
    divisors=None,
    tokenizer: Path | None = None,
    **fields,
) -> Path:
    """The model of transformers (a Llama) as llama.cpp's converter writes it. divisors: of
    frequencies, an array; tokenizer: a tokenizer.json in place of the few merges.
    """
    tokens, merges, special = words(), MERGES, len(SPECIAL)
    if tokenizer is not None:
        own = json.loads(tokenizer.read_text())["model"]
        tokens, special = sorted(own["vocab"], key=own["vocab"].get), 1
        merges = [" ".join(pair) for pair in own["merges"]]
    from gguf import GGMLQuantizationType, quants

    c = model.config
    base = c.rope_parameters["rope_theta"]
    out = _begun(path, fields.pop("architecture", "llama"), c, base)
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre(pre)
    out.add_token_list(tokens)
    out.add_token_types([3] * special + [1] * (len(tokens) - special))
    out.add_token_merges(merges)
    out.add_bos_token_id(0)
    _further(out, fields)
    turning = {"q_proj": c.num_attention_heads, "k_proj": c.num_key_value_heads}
    for last, name, p in _tensors(model, LLAMA):
        turned = relayout(p, turning[last], "half", "interleaved") if last in turning else p
        data = turned.numpy()
        if quantised and data.ndim == 2 and data.shape[1] % 32 == 0:
            kind = GGMLQuantizationType.Q8_0
            out.add_tensor(name, quants.quantize(data, kind), raw_dtype=kind)
        else:
            out.add_tensor(name, data)
    if divisors is not None:
        out.add_tensor("rope_freqs.weight", divisors)
    return _ended(out, path)


def gemma(path: Path, model, **fields) -> Path:
    """A Gemma 3 of transformers as llama.cpp's converter writes it, with a tokenizer of
    SentencePiece: special words, bytes, letters and numbered words.
    """
    c = model.config
    out = _begun(path, "gemma3", c, 1e6)
    out.add_key_length(c.head_dim)
    out.add_value_length(c.head_dim)
    out.add_sliding_window(c.sliding_window)
    tokens = ["<pad>", "<eos>", "<bos>", "<unk>", *(f"<0x{n:02X}>" for n in range(256)), "\u2581"]
    tokens += [f"{n}" for n in range(c.vocab_size - len(tokens))]
    out.add_tokenizer_model("llama")
    out.add_token_list(tokens)
    out.add_token_scores([-float(n) for n in range(len(tokens))])
    out.add_token_types([3] * 4 + [6] * 256 + [1] * (len(tokens) - 260))
    out.add_bos_token_id(2)
    out.add_eos_token_id(1)
    _further(out, fields)
    for last, name, p in _tensors(model.model, GEMMA):
        out.add_tensor(name, (p + 1 if "norm" in last else p).numpy())
    return _ended(out, path)


def bloom(path: Path, model) -> Path:
    """A Bloom of transformers, an architecture without a tokenizer of its own there. The rows of
    queries, keys and values keep the order of transformers, so the logits differ.
    """
    from gguf import MODEL_ARCH, GGUFWriter, get_tensor_name_map

    c = model.config
    out = GGUFWriter(path, "bloom")
    out.add_block_count(c.n_layer)
    out.add_context_length(c.seq_length)
    out.add_embedding_length(c.hidden_size)
    out.add_feed_forward_length(4 * c.hidden_size)
    out.add_head_count(c.n_head)
    out.add_head_count_kv(c.n_head)
    out.add_layer_norm_eps(c.layer_norm_epsilon)
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("gpt-2")
    out.add_token_list(words())
    out.add_token_merges(MERGES)
    names = get_tensor_name_map(MODEL_ARCH.BLOOM, c.n_layer)
    for name, p in model.transformer.state_dict().items():
        found = names.get_name(name, try_suffixes=(".weight", ".bias"))
        out.add_tensor(found, p.detach().numpy())
    return _ended(out, path)
