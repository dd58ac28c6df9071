"""The families that extrap knows by name. BLOOM, MPT, GPT-2 and OPT become a GPT of ours, because
their positions are no rotation: ALiBi and learned tables. extrap writes a model of our own as one
of all but OPT; the classes say which models have a form there.

Variants that have no form in the GPT are not told apart here: a GPT whose logits differ from those
of the model is not used.
"""

import math
from typing import Any

from torch import Tensor

from extrap.model.gpt import GPT
from extrap.model.scheme import Scheme, Shape
from extrap.pretrained.family import Exported, Family, RotaryFamily
from extrap.schemes.alibi import ALiBi, alibi_slopes
from extrap.schemes.learned import Learned

STEEPEST = 8
"""alibi_bias_max of MPT."""


class BLOOM(Family):
    """ALiBi, a norm of the token embedding, layer norms, biases everywhere."""

    title, architecture, model_type = "BLOOM", "BloomForCausalLM", "bloom"
    keys = {"dim": "hidden_size", "layers": "n_layer", "heads": "n_head"}
    keys |= {"length": "seq_length", "eps": "layer_norm_epsilon"}
    fixed = {"mlp": "gelu-tanh", "embedding_norm": "layer", "ratio": 4.0}
    linears = {
        "qkv": "self_attention.query_key_value",
        "out": "self_attention.dense",
        "up": "mlp.dense_h_to_4h",
        "down": "mlp.dense_4h_to_h",
    }
    norms = {"norm1": "input_layernorm", "norm2": "post_attention_layernorm"}
    outside = {
        "embedding": "word_embeddings",
        "embedding_norm": "word_embeddings_layernorm",
        "norm": "ln_f",
    }
    by_head = True

    def scheme(self, shape: Shape, config: Any) -> Scheme:
        return ALiBi(shape)

    def exported(self, model: GPT) -> Exported:
        found = super().exported(model)
        slopes = alibi_slopes(model.config.heads)
        self.require(_same(model.scheme.slopes, slopes), "scheme.slopes=null")
        return found


class MPT(Family):
    """ALiBi with slopes in an order of its own, layer norms without biases, a tied head."""

    title, architecture = "MPT (BLOOM: model.embedding_norm=layer)", "MptForCausalLM"
    model_type = "mpt"
    keys = {"dim": "d_model", "layers": "n_layers", "heads": "n_heads"}
    keys |= {"length": "max_seq_len", "eps": "layer_norm_epsilon"}
    fixed = {"mlp": "gelu", "bias": "none", "ratio": 4.0}
    block = "blocks.{}"
    linears = {
        "qkv": "attn.Wqkv",
        "out": "attn.out_proj",
        "up": "ffn.up_proj",
        "down": "ffn.down_proj",
    }
    norms = {"norm1": "norm_1", "norm2": "norm_2"}
    outside = {"embedding": "wte", "norm": "norm_f"}
    biased = False

    def options(self, config: Any) -> dict[str, Any]:
        return super().options(config) | {"ratio": float(config.expansion_ratio)}

    def scheme(self, shape: Shape, config: Any) -> Scheme:
        return ALiBi(shape, mpt_slopes(shape.heads, config.attn_config.alibi_bias_max))

    def clip(self, config: Any) -> float | None:
        return config.attn_config.clip_qkv or None

    def exported(self, model: GPT) -> Exported:
        config, weights = super().exported(model)
        biased = any(n.endswith("bias") and bool(p.any()) for n, p in model.named_parameters())
        self.require(not biased, "no biases, of norms neither")
        slopes = mpt_slopes(model.config.heads, STEEPEST)
        self.require(_same(model.scheme.slopes, slopes), "the slopes of MPT, which are others here")
        self.require(config["tie_word_embeddings"], "model.head=shared")
        attention = {"alibi": True, "alibi_bias_max": STEEPEST}
        return config | {"expansion_ratio": 4, "attn_config": attention}, weights


class GPT2(Family):
    """A learned table of positions, layer norms, biases everywhere. Matrices lie transposed."""

    title, architecture, model_type = "GPT-2", "GPT2LMHeadModel", "gpt2"
    keys = {"dim": "n_embd", "layers": "n_layer", "heads": "n_head", "length": "n_positions"}
    keys |= {"eps": "layer_norm_epsilon", "hidden": "n_inner", "mlp": "activation_function"}
    linears = {"qkv": "attn.c_attn", "out": "attn.c_proj", "up": "mlp.c_fc", "down": "mlp.c_proj"}
    norms = {"norm1": "ln_1", "norm2": "ln_2"}
    outside = {"embedding": "wte", "norm": "ln_f"}
    transposed = True
    table = "transformer.wpe.weight"

    def scheme(self, shape: Shape, config: Any) -> Scheme:
        return Learned(shape, config.n_positions)

    def read(self, state: Any, config: Any) -> dict[str, Tensor]:
        return super().read(state, config) | {"scheme.table": state[self.table][None]}

    def exported(self, model: GPT) -> Exported:
        config, weights = super().exported(model)
        table = model.scheme.table
        plain = len(table) == 1 and model.scheme.policy == "raise"
        self.require(plain, "scheme=learned")
        return config | {"n_positions": len(table[0])}, weights | {self.table: table[0]}


class OPT(Family):
    """A learned table whose first two rows are never read, layer norms, biases everywhere."""

    title, architecture, model_type = "OPT", "OPTForCausalLM", "opt"
    keys = {"dim": "hidden_size", "layers": "num_hidden_layers", "heads": "num_attention_heads"}
    keys |= {"mlp": "activation_function", "hidden": "ffn_dim"}
    prefix, block = "model.decoder.", "layers.{}"
    linears = {"qkv": "self_attn.{}_proj", "out": "self_attn.out_proj", "up": "fc1", "down": "fc2"}
    norms = {"norm1": "self_attn_layer_norm", "norm2": "final_layer_norm"}
    outside = {"embedding": "embed_tokens", "norm": "final_layer_norm"}
    unread = 2

    def scheme(self, shape: Shape, config: Any) -> Scheme:
        return Learned(shape, config.max_position_embeddings)

    def read(self, state: Any, config: Any) -> dict[str, Tensor]:
        table = state[f"{self.prefix}embed_positions.weight"]
        return super().read(state, config) | {"scheme.table": table[None, self.unread :]}


class NeoX(RotaryFamily):
    """RoPE on all channels of a head or on the first of them, with layer norms."""

    title, architecture, model_type = "GPT-NeoX", "GPTNeoXForCausalLM", "gpt_neox"
    keys = {"dim": "hidden_size", "layers": "num_hidden_layers", "heads": "num_attention_heads"}
    keys |= {"length": "max_position_embeddings", "eps": "layer_norm_eps"}
    keys |= {"hidden": "intermediate_size", "mlp": "hidden_act"}
    allowed = {"residual": (None, "parallel")}
    prefix, block, head = "gpt_neox.", "layers.{}", "embed_out"
    linears = {
        "qkv": "attention.query_key_value",
        "out": "attention.dense",
        "up": "mlp.dense_h_to_4h",
        "down": "mlp.dense_4h_to_h",
    }
    norms = {"norm1": "input_layernorm", "norm2": "post_attention_layernorm"}
    outside = {"embedding": "embed_in", "norm": "final_layer_norm"}
    by_head = True

    def exported(self, model: GPT) -> Exported:
        config, weights = super().exported(model)
        width = model.blocks[0].head_dim
        config["rope_parameters"]["partial_rotary_factor"] = (model.scheme.turned or width) / width
        return config | {"use_parallel_residual": model.blocks[0].parallel}, weights


class Llama(RotaryFamily):
    """RoPE on all channels, RMS norms, SwiGLU; matrices of q, k and v apart."""

    title, architecture, model_type = "Llama", "LlamaForCausalLM", "llama"
    keys = NeoX.keys | {"eps": "rms_norm_eps"}
    fixed = {"norm": "rms", "mlp": "swiglu"}
    allowed = {"bias": (None, "none", "attention"), "kv_heads": None, "head_dim": None}
    ways = ", with model=llama-tiny, or with model.norm=layer as GPT-NeoX"
    prefix, block = "model.", "layers.{}"
    linears = {"qkv": "self_attn.{}_proj", "out": "self_attn.o_proj"}
    linears |= {name: f"mlp.{name}_proj" for name in ("gate", "up", "down")}
    norms = {"norm1": "input_layernorm", "norm2": "post_attention_layernorm"}
    outside = {"embedding": "embed_tokens", "norm": "norm"}

    def biases(self, model: GPT) -> tuple[str, ...]:
        return () if model.blocks[0].qkv.bias is None else ("qkv", "out")

    def exported(self, model: GPT) -> Exported:
        config, weights = super().exported(model)
        block = model.blocks[0]
        sizes = {"num_key_value_heads": block.kv_heads, "head_dim": block.head_dim}
        return config | sizes | {"attention_bias": block.qkv.bias is not None}, weights


def mpt_slopes(heads: int, steepest: float) -> list[float]:
    """Returns 2**(-n steepest / P), n = 1 .. P, P the next power of two; for fewer heads the
    second, fourth, ... first, then the others.
    """
    power = 1 << (heads - 1).bit_length()
    every = [2 ** (-n * steepest / power) for n in range(1, power + 1)]
    return every if power == heads else (every[1::2] + every[::2])[:heads]


def _same(ours: list[float], theirs: list[float]) -> bool:
    return all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(ours, theirs, strict=True))
