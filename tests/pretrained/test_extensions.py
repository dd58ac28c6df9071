"""Extensions and tuning on published schemes: chained with the checkpoint's own scaling, on ALiBi
and on learned tables.
"""

import pytest
import torch

from extrap.extensions.base import Reader
from extrap.model.gpt import GPT
from extrap.model.spectrum import frequencies_used
from extrap.pretrained.checkpoint import Checkpoint
from extrap.runs.build import build
from tests.support import tiny_checkpoints as tiny
from tests.support.discover import node

TOKENS = torch.randint(61, (2, 75), generator=torch.Generator().manual_seed(5))


def saved(tmp_path, kind: str, **options) -> GPT:
    tiny.made(kind, **options).save_pretrained(tmp_path)
    return Checkpoint(str(tmp_path)).model()


def extended(model: GPT, name: str, **options) -> Reader:
    return build(node("extension", name) | options, "extension")(model)


@pytest.mark.parametrize("kind", ["linear", "llama3", "yarn", "longrope"])
def test_interpolation_acts_on_the_frequencies_in_force(kind, tmp_path):
    """The rule of chaining: coordinates / 4 over whatever the checkpoint brings."""
    model = saved(tmp_path, "llama", **tiny.rope(kind))
    slowed = extended(model, "pi", factor=4.0)
    for n in (8, 75):
        own = frequencies_used(model.scheme, n)
        torch.testing.assert_close(frequencies_used(slowed.scheme, n), own / 4)
    assert frequencies_used(model.scheme, 8)[0] > 0.1  # the plain model is as it was


@torch.no_grad()
def test_of_two_rotations_the_one_that_sees_everything_is_interpolated(tmp_path):
    """Gemma 3: layers in windows see no new distance, and turn as they did."""
    model = saved(tmp_path, "gemma3", layer_types=["sliding_attention", "full_attention"] * 2,
                  num_hidden_layers=4)  # fmt: skip
    slowed = extended(model, "pi", factor=4.0)
    at = model.where(TOKENS)
    q = torch.ones(1, 4, 75, 12)
    for layer, same in enumerate([True, False, True, False]):
        before, after = (
            m.scheme.rotate(q, q, m.where(TOKENS).at_layer(layer, q))[0] for m in (model, slowed)
        )
        assert torch.allclose(before, after) is same, at
    assert (slowed(TOKENS) - model(TOKENS)).abs().max() > 1e-3


@torch.no_grad()
@pytest.mark.parametrize("name", ["ntk", "yarn", "self-extend", "rerope", "dual-chunk"])
def test_soft_caps_stay_under_an_extension(name, tmp_path):
    """Gemma 2 whose cap leaves next to nothing of a score: no method changes much, each of which
    does without the cap.
    """
    changed = []
    for cap in (1e-5, None):
        model = saved(tmp_path, "gemma2", attn_logit_softcapping=cap)
        changed.append(float((extended(model, name)(TOKENS) - model(TOKENS)).abs().max()))
    assert changed[0] < 1e-3 < 0.5 < changed[1]
