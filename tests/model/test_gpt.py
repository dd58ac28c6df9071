"""The GPT in the shape of published decoders; whole checkpoints: tests/pretrained."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.scheme import Shape
from extrap.runs.build import build
from extrap.schemes.alibi import ALiBi
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


TRAINED = [name for name in names("model") if "checkpoint" not in node("model", name)]
TOKENS = torch.arange(90).view(2, 45) % 50


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


class Sizes(TorchDispatchMode):
    """Elements of every new tensor."""

    def __init__(self):
        super().__init__()
        self.made = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for t in out if isinstance(out, tuple | list) else (out,):
            if isinstance(t, torch.Tensor) and not func.is_view:
                self.made.append((tuple(t.shape), str(func)))
        return out


@torch.no_grad()
@pytest.mark.parametrize("scheme", [RoPE, ALiBi])
def test_groups_are_never_copied_for_every_head(scheme):
    """Eight heads read one: of (B, 8, T, D) there are queries and outputs, two kinds of
    keys none.
    """
    shape = Shape(64, 8, 1, 64, 50, "rms", 1)
    made = GPT(scheme(shape), 50, Decoder(64, 1, 8, kv_heads=1)).eval()
    with Sizes() as sizes:
        made(TOKENS)
    assert not [n for n in sizes.made if "repeat" in n[1] or "expand" in n[1]]
    keys = [shape for shape, _ in sizes.made if shape[1:2] == (8,) and len(shape) == 5]
    assert not keys


@pytest.mark.parametrize("value", ["kv_heads=3", "kv_heads=0", "head_dim=99999999", "logit_cap=0"])
def test_options_out_of_bounds_are_named(value):
    with pytest.raises(UserError) as error:
        job(f"model.{value}").source.shape  # noqa: B018
    assert error.value.option == f"model.{value.split('=')[0]}"
