"""The rotation that a GGUF file asks for, against transformers' own model with this rotation."""

from math import log

import numpy as np
import pytest
import torch
from transformers import AutoConfig

from extrap.pretrained.checkpoint import Checkpoint
from extrap.pretrained.gguf_rope import check_read
from extrap.utils.errors import UserError
from tests.support import tiny_checkpoints as tiny
from tests.support import tiny_families, tiny_gguf

TOKENS = torch.randint(200, (2, 60), generator=torch.Generator().manual_seed(5))
SCALING = "llama__rope__scaling__"
LINEAR = {"rope_type": "linear", "factor": 4.0}
ORIGINAL = {"original_max_position_embeddings": 16}
DIVISORS = np.array([1.0, 2.0, 4.0, 8.0], dtype=np.float32)
PLAIN = {"rope_type": "default"}


def pairwise(times: float, by: float = 1.0, divisors=(1.0,) * 4):
    slower = [by * d for d in divisors]
    both = {"long_factor": slower, "short_factor": slower}
    return {"rope_type": "longrope", "attention_factor": times} | both | ORIGINAL


def yarn(**fields):
    fields = {"type": "yarn", "factor": 4.0, "original_context_length": 16} | fields
    return {SCALING + key: value for key, value in fields.items()}


def made(rope):
    rope = {"rope_parameters": rope | {"rope_theta": 500.0}}
    return tiny.made("llama", vocab_size=len(tiny_gguf.words()), **rope)


@pytest.mark.sample(8)
@torch.no_grad()
@pytest.mark.parametrize(
    ("fields", "rope"),
    [
        ({SCALING + "factor": 4.0}, LINEAR),
        ({SCALING + "factor": 4}, LINEAR),
        ({"llama__rope__scale_linear": 4.0}, LINEAR),
        ({SCALING + "factor": 4.0, "llama__rope__scale_linear": 2.0}, LINEAR),
        ({SCALING + "type": "linear", "llama__rope__scale_linear": 4.0}, LINEAR),
        ({SCALING + "type": "none", SCALING + "factor": 4.0}, PLAIN),
        ({SCALING + "type": "linear"}, PLAIN),
        ({SCALING + "factor": 0.0, SCALING + "finetuned": False}, PLAIN),
        ({SCALING + "attn_factor": 0.5}, pairwise(0.5)),
        ({SCALING + "factor": 4.0, SCALING + "attn_factor": 1.5}, pairwise(1.5, 4.0)),
        ({"divisors": DIVISORS}, pairwise(1.0, 1.0, DIVISORS)),
        ({"divisors": DIVISORS, SCALING + "factor": 2.0}, pairwise(1.0, 2.0, DIVISORS)),
        (yarn(), {"rope_type": "yarn", "factor": 4.0} | ORIGINAL),
        (
            yarn(attn_factor=0.5),
            {"rope_type": "yarn", "factor": 4.0, "attention_factor": 0.5 * (0.1 * log(4.0) + 1)}
            | ORIGINAL,
        ),
        (
            yarn(yarn_beta_fast=32.0, yarn_beta_slow=1.0, yarn_ext_factor=1.0),
            {"rope_type": "yarn", "factor": 4.0} | ORIGINAL,
        ),
    ],
)
def test_a_file_turns_as_llama_cpp_turns_it(fields, rope, tmp_path):
    model = made(rope)
    path = tiny_gguf.written(tmp_path / "model.gguf", model, **fields)
    ours = Checkpoint(str(path), tmp_path / "cache").model()
    torch.testing.assert_close(ours(TOKENS), model(TOKENS).logits, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (yarn(yarn_beta_fast=16.0), "llama.rope.scaling.yarn_beta_fast=16.0 is not supported"),
        (yarn(yarn_attn_factor=0.7), r"llama.rope.scaling.yarn_attn_factor=0.69\d+ is not"),
        ({SCALING + "bend": 2.0}, "llama.rope.scaling.bend=2.0 is not supported"),
        ({SCALING + "factor": -2.0}, "damaged .llama.rope.scaling.factor=-2.0"),
        ({SCALING + "attn_factor": "much"}, "damaged .llama.rope.scaling.attn_factor=much"),
        ({SCALING + "factor": [1.0, 2.0]}, "damaged .llama.rope.scaling.factor="),
        (yarn() | {"divisors": DIVISORS}, "yarn beside a tensor rope_freqs"),
    ],
)
def test_scaling_that_is_not_read_is_one_line(fields, expected, tmp_path):
    path = tiny_gguf.written(tmp_path / "model.gguf", made(PLAIN), **fields)
    with pytest.raises(UserError, match=expected) as error:
        Checkpoint(str(path), tmp_path / "cache")
    assert "\n" not in str(error.value)


def test_scaling_that_transformers_leaves_out_is_one_line(tmp_path):
    """Its reader makes a Gemma without scaling of such a file."""
    pytest.importorskip("accelerate", reason="transformers reads a GGUF with it")
    model = tiny.made("gemma3", vocab_size=300, num_hidden_layers=6)
    fields = {"gemma3__rope__scaling__type": "linear", "gemma3__rope__scaling__factor": 8.0}
    path = tiny_gguf.gemma(tmp_path / "gemma.gguf", model, **fields)
    with pytest.raises(UserError, match=r"gemma3.rope.scaling.factor=8.0 is not supported"):
        Checkpoint(str(path), tmp_path / "cache")


def test_a_base_that_transformers_leaves_out_is_one_line(tmp_path):
    """Of starcoder2 and stablelm it reads no rope.freq_base."""
    fields = {"general.architecture": "starcoder2", "starcoder2.rope.freq_base": 999999.44}
    config = AutoConfig.for_model("starcoder2")
    with pytest.raises(UserError, match=r"starcoder2.rope.freq_base=999999.44 is not supported"):
        check_read(tmp_path, fields, [], config)
    config.rope_parameters["rope_theta"] = 999999.4375
    check_read(tmp_path, fields, [], config)


def test_a_window_that_transformers_leaves_out_is_one_line(tmp_path):
    fields = {"general.architecture": "starcoder2", "starcoder2.attention.sliding_window": 9}
    config = AutoConfig.for_model("starcoder2", sliding_window=None)
    with pytest.raises(UserError, match=r"starcoder2.attention.sliding_window=9 is not supported"):
        check_read(tmp_path, fields, [], config)
    config.sliding_window = 9
    check_read(tmp_path, fields, [], config)


def test_turned_channels_that_transformers_leaves_out_are_one_line(tmp_path):
    """Of stablelm and phi3 it reads no rope.dimension_count."""
    fields = {"general.architecture": "stablelm", "stablelm.rope.dimension_count": 40}
    config = AutoConfig.for_model("stablelm")  # heads of 80 channels, a quarter of them turned
    with pytest.raises(UserError, match=r"stablelm.rope.dimension_count=40 is not supported"):
        check_read(tmp_path, fields, [], config)
    config.rope_parameters["partial_rotary_factor"] = 0.5
    check_read(tmp_path, fields, [], config)


@pytest.mark.parametrize("turned", [8, 4])
def test_a_file_turns_as_many_channels_as_it_says_or_is_refused(turned, tmp_path):
    pytest.importorskip("accelerate", reason="transformers reads a GGUF with it")
    model = tiny_families.made("phi3", sliding_window=9, vocab_size=32064)
    fields = {"vocab_size": 32064, "rope.dimension_count": turned}
    path = tiny_gguf.other(tmp_path / "phi.gguf", model, "phi3", tiny_gguf.PHI, **fields)
    if turned == 8:
        Checkpoint(str(path), tmp_path / "cache")
        return
    with pytest.raises(UserError, match=r"phi3.rope.dimension_count=4 is not supported"):
        Checkpoint(str(path), tmp_path / "cache")


@pytest.mark.parametrize("said", [16, None])
def test_replaced_a_file_with_divisors_has_the_window_that_it_says(tmp_path, said):
    fields = {} if said is None else {SCALING + "original_context_length": said}
    path = tiny_gguf.written(tmp_path / "model.gguf", made(PLAIN), divisors=DIVISORS, **fields)
    checkpoint = Checkpoint(str(path), tmp_path / "cache", scaling="replace")
    if said is not None:
        assert checkpoint.length() == said
        return
    with pytest.raises(UserError, match="give model"):
        checkpoint.length()
