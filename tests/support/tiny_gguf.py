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
PHI = LLAMA | {"qkv_proj": "attn_qkv", "gate_up_proj": "ffn_up"}
MOE = LLAMA | {"q_norm": "attn_q_norm", "k_norm": "attn_k_norm", "gate": "ffn_gate_inp"}
"""By the word of transformers: the word of llama.cpp."""
HYBRID = MOE | {
    "post_attention_layernorm": "post_attention_norm",
    "in_proj_qkv": "attn_qkv",
    "in_proj_z": "attn_gate",
    "in_proj_a": "ssm_alpha",
    "in_proj_b": "ssm_beta",
    "conv1d": "ssm_conv1d",
    "out_proj": "ssm_out",
    "linear_attn": "ssm",
}
OF_STATES = {"ssm.A_log": "ssm_a", "ssm.dt_bias": "ssm_dt.bias", "output_norm": "ssm_norm"}
"""In a layer of Qwen3.5: the word that HYBRID makes, the word of llama.cpp."""


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
        if last == "experts":
            halves = ("gate", "up") if part == "gate_up_proj" else ("down",)
            for half, x in zip(halves, p.detach().chunk(len(halves), 1), strict=True):
                yield last, f"{layer}ffn_{half}_exps.weight", x.contiguous()
            continue
        yield last, f"{layer}{names[last]}.{part}", p.detach()


def _add_words(out, pre: str, tokens: list[str], merges: list[str], special: int) -> None:
    """Adds a tokenizer whose first tokens are special."""
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre(pre)
    out.add_token_list(tokens)
    out.add_token_types([3] * special + [1] * (len(tokens) - special))
    out.add_token_merges(merges)


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
    weights: bool = True,
    **fields,
) -> Path:
    """The model of transformers (a Llama) as llama.cpp's converter writes it. divisors: of
    frequencies, an array; tokenizer: a tokenizer.json in place of the few merges; weights: False
    for the vocabulary alone.
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
    _add_words(out, pre, tokens, merges, special)
    out.add_bos_token_id(0)
    _further(out, fields)
    turning = {"q_proj": c.num_attention_heads, "k_proj": c.num_key_value_heads}
    for last, name, p in _tensors(model, LLAMA) if weights else ():
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


def other(path: Path, model, architecture: str, names: dict[str, str], **fields) -> Path:
    """A model of transformers whose rows keep their order in a file. fields: without the name of
    the architecture in front.
    """
    out = _begun(path, architecture, model.config, model.config.rope_parameters["rope_theta"])
    _add_words(out, "qwen2", words(), MERGES, len(SPECIAL))
    out.add_bos_token_id(0)
    _further(out, {f"{architecture}.{name}": value for name, value in fields.items()})
    for _, name, p in _tensors(model, names):
        out.add_tensor(name, p.numpy())
    return _ended(out, path)


def hybrid(path: Path, model) -> Path:
    """A Qwen3.5 of transformers with as many heads of values as of keys in its linear layers."""
    c = model.config
    rope = c.rope_parameters
    out = _begun(path, "qwen35", c, rope["rope_theta"])
    out.add_key_length(c.head_dim)
    _add_words(out, "qwen35", words(), MERGES, len(SPECIAL))
    fields = {
        "full_attention_interval": 4,
        "ssm.conv_kernel": c.linear_conv_kernel_dim,
        "ssm.state_size": c.linear_key_head_dim,
        "ssm.group_count": c.linear_num_key_heads,
        "ssm.time_step_rank": c.linear_num_value_heads,
        "ssm.inner_size": c.linear_num_value_heads * c.linear_value_head_dim,
        "rope.dimension_sections": [*rope["mrope_section"], 0],
        "rope.dimension_count": round(rope["partial_rotary_factor"] * c.head_dim),
    }
    _further(out, {f"qwen35.{name}": value for name, value in fields.items()})
    for _, name, p in _tensors(model, HYBRID):
        word, x = name, p[:, 0] if "conv1d" in name else p
        if name.startswith("blk"):
            for made, own in OF_STATES.items():
                word = word.replace(made, own)
        if word.endswith("ssm_a"):
            x = -p.exp()
        elif word.endswith("norm.weight") and "ssm" not in word:
            x = p + 1
        out.add_tensor(word, x.numpy())
    return _ended(out, path)


def gemma(
    path: Path, model, architecture: str = "gemma3", base: float = 1e6, window=True, **fields
) -> Path:
    """A Gemma 2 or 3 of transformers as llama.cpp's converter writes it, with a tokenizer of
    SentencePiece: special words, bytes, letters and numbered words. window: False leaves it out.
    """
    c = model.config
    out = _begun(path, architecture, c, base)
    out.add_key_length(c.head_dim)
    out.add_value_length(c.head_dim)
    if window:
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
