"""The models of conf, and options out of bounds; whole checkpoints: tests/pretrained."""

import pytest
import torch

from extrap.model.gpt import GPT
from extrap.model.scheme import Shape
from extrap.runs.build import build
from extrap.schemes.rope import RoPE
from extrap.utils.errors import UserError
from tests.support.discover import names, node
from tests.support.jobs import job

TRAINED = [name for name in names("model") if "checkpoint" not in node("model", name)]


@pytest.mark.parametrize("name", TRAINED)
def test_every_model_of_conf_is_built(name):
    options = node("model", name)
    shape = Shape(options["dim"], options["heads"], options["layers"], 64, 50, options["norm"],
                  options["kv_heads"], options["head_dim"])  # fmt: skip
    with torch.device("meta"):
        config = build(options | {"_target_": "extrap.model.decoder.Decoder"}, "model")
        made = GPT(RoPE(shape), 50, config)
    assert sum(p.numel() for p in made.parameters()) > 1e4
    assert len(made.blocks) == options["layers"]


@pytest.mark.parametrize("value", ["kv_heads=3", "kv_heads=0", "head_dim=99999999", "logit_cap=0"])
def test_options_out_of_bounds_are_named(value):
    with pytest.raises(UserError) as error:
        job(f"model.{value}").source.shape  # noqa: B018
    assert error.value.option == f"model.{value.split('=')[0]}"
