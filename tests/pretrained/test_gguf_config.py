"""The fields of a GGUF file that transformers leaves out: in the model as llama.cpp reads them, or
refused by name.
"""

import pytest
import torch
from transformers import AutoConfig

from extrap.pretrained.checkpoint import Checkpoint
from extrap.pretrained.gguf_config import check_keys, complete
from extrap.pretrained.gguf_rope import check_read
from extrap.utils.errors import UserError
from tests.support import tiny_checkpoints as tiny
from tests.support import tiny_gguf

TOKENS = torch.randint(200, (2, 60), generator=torch.Generator().manual_seed(5))
FULL, WINDOWED = "full_attention", "sliding_attention"
CAPS = {"attn_logit_softcapping": 5.0, "final_logit_softcapping": 3.0}
TWO_OF_THREE = [WINDOWED, WINDOWED, FULL]


def based(base: float):
    full = {"rope_type": "default", "rope_theta": 1e6}
    return {FULL: full, WINDOWED: {"rope_type": "default", "rope_theta": base}}


@pytest.mark.parametrize(
    ("kind", "fields", "options"),
    [
        ("gemma2", {}, {}),
        ("gemma2", CAPS, CAPS),
        ("gemma3", {}, {}),
        ("gemma3", {"final_logit_softcapping": 3.0}, {"final_logit_softcapping": 3.0}),
        ("gemma3", {"rope.freq_base_swa": 300.0}, {"rope_parameters": based(300.0)}),
        ("gemma3", {"attention.sliding_window_pattern": 3}, {"layer_types": TWO_OF_THREE}),
        (
            "gemma3",
            {"attention.sliding_window_pattern": [True, True, False]},
            {"layer_types": TWO_OF_THREE},
        ),
        ("gemma3", None, {"layer_types": [FULL] * 3}),  # without a window
    ],
)
@torch.no_grad()
def test_a_gemma_has_the_scale_caps_and_windows_of_its_file(kind, fields, options, tmp_path):
    """Attention is scaled by 1 / sqrt(12), which no field says."""
    pytest.importorskip("accelerate", reason="transformers reads a GGUF with it")
    usual = {"layer_types": [WINDOWED, FULL, WINDOWED]}
    if kind == "gemma3":
        usual = {"layer_types": [WINDOWED] * 3, "rope_parameters": based(1e4)}
    model = tiny.made(kind, vocab_size=300, query_pre_attn_scalar=12, **usual | options)
    named = {f"{kind}.{key}": value for key, value in (fields or {}).items()}
    base = 1e6 if kind == "gemma3" else 1e4
    place = tmp_path / "gemma.gguf"
    path = tiny_gguf.gemma(place, model, kind, base, window=fields is not None, **named)
    ours = Checkpoint(str(path), tmp_path / "cache").model()
    torch.testing.assert_close(ours(TOKENS), model(TOKENS).logits, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(("kind", "layers"), [("gemma2", 46), ("gemma3_text", 62)])
def test_the_27b_of_a_gemma_has_a_scale_of_its_own(kind, layers, tmp_path):
    sizes = {"hidden_size": 5376, "num_attention_heads": 32, "head_dim": 128}
    config = AutoConfig.for_model(kind, num_hidden_layers=layers, **sizes)
    architecture = kind.removesuffix("_text")
    fields = {"general.architecture": architecture, f"{architecture}.attention.sliding_window": 9}
    complete(tmp_path, fields, config)
    assert config.query_pre_attn_scalar == 168


@pytest.mark.parametrize(
    ("kind", "entry"),
    [
        ("falcon", "layer_norm_epsilon"),
        ("nemotron", "norm_eps"),
        ("stablelm", "layer_norm_eps"),
        ("starcoder2", "norm_epsilon"),
    ],
)
def test_an_epsilon_is_that_of_the_file(kind, entry, tmp_path):
    config = AutoConfig.for_model(kind)
    key = f"{kind}.attention.layer_norm_epsilon"
    complete(tmp_path, {"general.architecture": kind, key: 0.1}, config)
    assert getattr(config, entry) == 0.1
    setattr(config, entry, 1e-5)
    complete(tmp_path, {"general.architecture": kind, key: 9.9999997e-06}, config)
    assert getattr(config, entry) == 1e-5  # its digits, of the same number in 32 bits


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("starcoder2", "final_logit_softcapping", 30.0),
        ("starcoder2", "attention.sliding_window_pattern", 2),
        ("gemma2", "rope.freq_base_swa", 300.0),
    ],
)
def test_a_field_without_an_entry_is_one_line(kind, key, value, tmp_path):
    fields = {"general.architecture": kind, f"{kind}.{key}": value}
    with pytest.raises(UserError, match=f"{kind}.{key}={value} is not supported"):
        complete(tmp_path, fields, AutoConfig.for_model(kind))


NEEDED = {
    "context_length": 32,
    "embedding_length": 32,
    "block_count": 3,
    "attention.layer_norm_epsilon": 1e-5,
    "attention.head_count": 4,
    "feed_forward_length": 48,
    "expert_count": 4,
    "expert_used_count": 2,
}


@pytest.mark.parametrize("lacking", NEEDED)
def test_a_lacking_field_that_llama_cpp_requires_is_one_line(lacking, tmp_path):
    fields = {"general.architecture": "stablelm"}
    fields |= {f"stablelm.{key}": value for key, value in NEEDED.items()}
    tensors = ["blk.0.ffn_up.weight", "blk.1.ffn_up_exps.weight"]
    check_keys(tmp_path, fields, tensors)
    del fields[f"stablelm.{lacking}"]
    with pytest.raises(UserError, match=f"lacks the field stablelm.{lacking}"):
        check_keys(tmp_path, fields, tensors)


def test_a_file_without_its_context_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("gguf.GGUFWriter.add_context_length", lambda *args: None)
    model = tiny.made("gemma3", vocab_size=300)
    path = tiny_gguf.gemma(tmp_path / "gemma.gguf", model)
    with pytest.raises(UserError, match=r"gemma.gguf: lacks the field gemma3.context_length"):
        Checkpoint(str(path), tmp_path / "cache")


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("stablelm", r"stablelm.rope.dimension_count=80 \(the default\)"),
        ("gemma3_text", r"gemma3.rope.freq_base=10000.0 \(the default\)"),
    ],
)
def test_a_lacking_field_of_the_rotation_has_the_default_of_llama_cpp(kind, named, tmp_path):
    """A stablelm of transformers turns a quarter of its channels, a Gemma 3 has base 10^6."""
    fields = {"general.architecture": kind.removesuffix("_text")}
    with pytest.raises(UserError, match=named):
        check_read(tmp_path, fields, [], AutoConfig.for_model(kind))
