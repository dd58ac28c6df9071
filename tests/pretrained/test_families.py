"""Scalings and options of families against transformers: a tiny random model, saved by its own
class, read by us, gives the same logits, inside its context and past it. Every family as it stands:
tests/pretrained/test_adapter.py.
"""

import json
import os

import pytest
import torch
from safetensors.torch import save_file

from extrap.model.gpt import GPT
from extrap.model.scheme import OutOfRange
from extrap.pretrained.checkpoint import Checkpoint
from extrap.utils.errors import UserError
from tests.support import tiny_checkpoints as tiny

TOKENS = torch.randint(61, (2, 75), generator=torch.Generator().manual_seed(5))
INSIDE, PAST = 13, 75

ROPE = [("llama", tiny.rope(name)) for name in tiny.SCALED]
TWO = {
    "rope_parameters": {
        "full_attention": {"rope_type": "linear", "factor": 3.0, "rope_theta": 900.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 50.0},
    }
}
WINDOWS = {"use_sliding_window": True, "sliding_window": 9, "max_window_layers": 1}
OTHERS = [
    ("llama", {"attention_bias": True, "tie_word_embeddings": True, "rms_norm_eps": 0.1}),
    ("qwen2", WINDOWS | tiny.rope("yarn")),
    ("gemma2", {"attention_bias": True} | tiny.rope("yarn", pairs=6)),
    ("gemma3", {"final_logit_softcapping": 3.0, "layer_types": ["full_attention"] * 3} | TWO),
    ("neox", tiny.rope("yarn", pairs=2, partial_rotary_factor=0.5)),
    ("neox", {"use_parallel_residual": False}),
    ("neox", {"hidden_act": "gelu_new", "tie_word_embeddings": True}),
    ("gpt2", {"activation_function": "relu", "n_inner": 40}),
    ("bloom", {"n_head": 6, "hidden_size": 36}),
    ("mpt", {"n_heads": 6, "d_model": 36}),
    ("opt", {"activation_function": "gelu"}),
]


def label(value) -> str:
    return value if isinstance(value, str) else json.dumps(value)[:60]


@pytest.mark.sample(25)
@torch.no_grad()
@pytest.mark.parametrize(("kind", "options"), ROPE + OTHERS, ids=label)
def test_logits_are_those_of_transformers(kind, options, tmp_path):
    theirs = tiny.made(kind, **options)
    theirs.save_pretrained(tmp_path)
    ours = Checkpoint(str(tmp_path)).model()
    for n in (1, INSIDE, PAST):
        tokens = TOKENS[:, :n]
        try:
            found = ours(tokens)
        except OutOfRange:
            assert n == PAST and kind in ("gpt2", "opt")
            continue
        expected = theirs(tokens).logits
        assert expected.std() > 0.3  # else anything would agree
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("kind", ["gpt2", "mpt", "llama"])
def test_a_head_of_its_own_is_not_taken_for_the_embedding(kind, tmp_path):
    """A config that says they are one does not make them one."""
    own = {"tie_word_embeddings": False}
    ours = tiny.rewritten(tmp_path, kind, own, tie_word_embeddings=True).model()
    assert kind == "llama" or type(ours) is GPT
    expected = tiny.made(kind, **own)(TOKENS[:, :9]).logits
    torch.testing.assert_close(ours(TOKENS[:, :9]), expected, atol=1e-4, rtol=1e-4)


@torch.no_grad()
def test_a_clip_that_few_tokens_reach_is_kept(tmp_path):
    """MPT: one token has queries and keys past the bound, none of the probe's tokens has."""
    theirs = tiny.made("mpt", attn_config={"alibi": True, "clip_qkv": 40.0})
    theirs.transformer.wte.weight[:] = theirs.transformer.wte.weight[:1]
    loud = 60
    block = theirs.transformer.blocks[0]
    theirs.transformer.wte.weight[loud] *= -1
    x = block.norm_1(theirs.transformer.wte.weight[loud])
    block.attn.Wqkv.weight[:64] = 100 * x / x.square().sum()
    theirs.save_pretrained(tmp_path)
    tokens = TOKENS.clone()
    tokens[:, ::3] = loud
    ours = Checkpoint(str(tmp_path)).model()
    assert type(ours) is GPT and [block.clip for block in ours.blocks] == [40.0] * 3
    torch.testing.assert_close(ours(tokens), theirs(tokens).logits, atol=1e-4, rtol=1e-4)


CAP, PART = "original_max_position_embeddings", "partial_rotary_factor"
REFUSED = [
    ("llama", {"model_type": "spiral"}, "model_type=spiral"),
    ("llama", {"model_type": None}, "model_type=None"),
    ("llama", {"model_type": ["llama"]}, "model_type=['llama']"),
    ("llama", {"rope_parameters": {"rope_type": "spiral"}}, "transformers does not read it"),
    ("llama", {"hidden_size": "wide"}, "transformers does not read it"),
    ("llama", {"quantization_config": {"bits": 4}}, "quantization_config.quant_method=None"),
    ("bloom", {"seq_length": None}, "model.train_length"),
    ("gpt2", {"n_layer": 2}, "unexpected tensors: transformer.h.2"),
    ("gpt2", {"n_layer": 4}, "missing tensors: transformer.h.3"),
    ("gpt2", {"n_inner": 40}, "transformers does not read it"),
]
"""A family, what is changed in its config, and the entry that the message names."""


@pytest.mark.parametrize(("kind", "changes", "named"), REFUSED)
def test_what_is_not_supported_is_refused_by_name(kind, changes, named, tmp_path):
    with pytest.raises(UserError) as error:
        tiny.rewritten(tmp_path, kind, **changes).model()
    assert named in str(error.value) and "\n" not in str(error.value)
    assert str(tmp_path) in str(error.value)


def test_a_length_that_is_given_counts(tmp_path):
    found = tiny.rewritten(tmp_path, "bloom", seq_length=None).model(length=40)
    assert found.scheme.shape.length == 40


def piped(path):
    path.unlink(missing_ok=True)
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("plant", "expected"),
    [
        (lambda f: (f / "model.safetensors").unlink(), "no model.safetensors"),
        (
            lambda f: (f / "model.safetensors").rename(f / "model-00001-of-00002.safetensors"),
            "holds model-00001-of-00002.safetensors, shards without model.safetensors.index.json",
        ),
        (
            lambda f: (f / "model.safetensors").rename(f / "pytorch_model.bin"),
            "pytorch_model.bin, a pickle, which runs code",
        ),
        (
            lambda f: (f / "model.safetensors").write_bytes(
                (f / "model.safetensors").read_bytes()[:3000]
            ),
            "model.safetensors: cut short or damaged",
        ),
        (lambda f: (f / "config.json").unlink(), "no config.json"),
        (lambda f: piped(f / "config.json"), "config.json: not a file"),
        (lambda f: piped(f / "model.safetensors"), "model.safetensors: not a file"),
        (lambda f: (f / "config.json").write_text("{"), "config.json: not JSON"),
        (lambda f: (f / "config.json").write_text("[" * 9999), "config.json: not JSON"),
        (lambda f: (f / "config.json").write_text("[]"), "expected a JSON object, got list"),
    ],
)
def test_a_folder_that_is_no_checkpoint(plant, expected, tmp_path):
    tiny.made("llama").save_pretrained(tmp_path)
    plant(tmp_path)
    with pytest.raises(UserError) as error:
        Checkpoint(str(tmp_path)).model()
    assert expected in str(error.value) and "\n" not in str(error.value)
    if "config.json" in expected:
        with pytest.raises(UserError):
            _ = Checkpoint(str(tmp_path)).sha256


@torch.no_grad()
def test_what_lies_beside_the_shards_that_an_index_names_is_left_over(tmp_path):
    """As transformers reads it; the hash is of what is read."""
    model = tiny.made("llama")
    model.save_pretrained(tmp_path, max_shard_size="20KB")
    whole = Checkpoint(str(tmp_path))
    read, hashed = whole.model()(TOKENS), whole.sha256
    left_over = tmp_path / "model-99999-of-99999.safetensors"
    save_file({"model.norm.weight": torch.zeros(32)}, left_over)
    again = Checkpoint(str(tmp_path))
    assert torch.equal(again.model()(TOKENS), read) and again.sha256 == hashed
    index = tmp_path / "model.safetensors.index.json"
    names = sorted(set(json.loads(index.read_text())["weight_map"].values()))
    (tmp_path / names[0]).unlink()
    with pytest.raises(UserError, match=f"{names[0]}, which model.safetensors.index.json names"):
        Checkpoint(str(tmp_path)).model()
    index.write_text("[]")
    with pytest.raises(UserError, match="not an index of shards"):
        Checkpoint(str(tmp_path)).model()


@pytest.mark.parametrize("place", ["nowhere", "nowhere.gguf", "a/b/c", "../nowhere"])
def test_a_place_that_is_not_there(place):
    with pytest.raises(UserError, match="no such folder or file"):
        Checkpoint(place)


def test_the_hash_is_that_of_config_and_weights(tmp_path):
    first = tiny.rewritten(tmp_path, "llama").sha256
    assert tiny.rewritten(tmp_path, "llama").sha256 == first
    assert tiny.rewritten(tmp_path, "llama", rms_norm_eps=0.5).sha256 != first
