"""The GPT in the shape of published decoders; whole checkpoints: tests/pretrained."""

import pytest
import torch

from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.scheme import Shape, place
from extrap.runs.build import build
from extrap.schemes.rope import RoPE
from extrap.utils.errors import UserError
from tests.support.discover import names, node
from tests.support.jobs import job


def model(scheme=RoPE, **options) -> GPT:
    torch.manual_seed(0)
    shape = Shape(32, 4, 2, 64, 50, "rms", options.get("kv_heads"), options.get("head_dim"))
    made = GPT(scheme(shape), 50, Decoder(32, 2, 4, **options)).double().eval()
    for p in made.parameters():  # nothing is zero or one by chance
        p.data += 0.1 * torch.randn_like(p)
    return made


TRAINED = [name for name in names("model") if "dim" in node("model", name)]


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


@pytest.mark.parametrize(
    ("bias", "expected"),
    [
        (None, {"qkv"}),
        ("none", set()),
        ("attention", {"qkv", "out"}),
        ("all", {"qkv", "out", "gate", "up", "down"}),
    ],
)
def test_biases_are_where_they_are_asked_for(bias, expected):
    found = {name.split(".")[-2] for name, _ in model(mlp="swiglu", bias=bias).named_parameters()
             if name.endswith(".bias")}  # fmt: skip
    assert found == expected


@torch.no_grad()
def test_queries_and_keys_are_normed_before_they_turn():
    block = model(qk_norm="head").blocks[0]
    q, k, v = block.project(torch.randn(2, 5, 32, dtype=torch.float64) * 9)
    for z, norm in ((q, block.norm_q), (k, block.norm_k)):
        torch.testing.assert_close(
            (z / norm.weight).square().mean(-1), torch.ones(2, 4, 5).double()
        )
    assert v.square().mean() > 9


def test_epsilon_is_that_of_every_norm():
    made = model(eps=0.25, qk_norm="head", embedding_norm="rms")
    assert {m.eps for m in made.modules() if isinstance(m, torch.nn.RMSNorm)} == {0.25}


@pytest.mark.parametrize("value", ["kv_heads=3", "kv_heads=0", "head_dim=99999999", "ratio=0.01"])
def test_options_out_of_bounds_are_named(value):
    with pytest.raises(UserError) as error:
        job(f"model.{value}").source.shape  # noqa: B018
    assert error.value.option == f"model.{value.split('=')[0]}"


@pytest.mark.parametrize("at, inputs", [(None, False), ("inputs", True)])
@pytest.mark.parametrize("mlp", ["relu2", "swiglu"])
def test_dropout_acts_on_inputs_or_on_outputs_of_projections(at, inputs, mlp):
    """Every linear projection reads dropped channels, or what a block adds is dropped."""
    config = Decoder(dim=16, heads=2, layers=1, mlp=mlp, dropout=0.5, dropout_at=at)
    block = GPT(RoPE(Shape(16, 2, 1, 8, 11)), 11, config).train().blocks[0]
    dropped = {}
    for name, module in block.named_modules():
        if isinstance(module, torch.nn.Linear):
            module.register_forward_hook(lambda m, x, y, name=name: dropped.update({name: x[0]}))
    x = torch.randn(4, 8, 16)
    at_start = place(RoPE(Shape(16, 2, 1, 8, 11)), torch.arange(8.0))
    added = block(x, RoPE(Shape(16, 2, 1, 8, 11)), at_start, 0) - x
    normed = {name: read for name, read in dropped.items() if name in ("qkv", "gate", "up", "out")}
    for name, read in normed.items():
        assert read.eq(0).any() == inputs, name
    assert (dropped["down"].eq(0).float().mean() > 0.4) == (inputs or mlp == "relu2")
    assert added.eq(0).any() == (not inputs)
