"""Extensions and tuning on published schemes: chained with the checkpoint's own scaling, on ALiBi
and on learned tables.
"""

import pytest
import torch
from torch.nn import functional as F

from extrap.extensions.base import Reader
from extrap.model.gpt import GPT
from extrap.model.scheme import OutOfRange
from extrap.model.spectrum import frequencies_used
from extrap.pretrained.checkpoint import Checkpoint
from extrap.runs.build import build
from extrap.runs.training.lora import LoRA
from extrap.utils.errors import NotApplicable
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
@pytest.mark.parametrize("kind", ["default", "yarn", "dynamic"])
@pytest.mark.parametrize("name", ["ntk", "yarn", "rerope", "self-extend", "log-n"])
def test_extensions_act_beside_a_scaling(kind, name, tmp_path):
    model = saved(tmp_path, "llama", **tiny.rope(kind))
    plain = model(TOKENS)
    changed = extended(model, name)(TOKENS)
    assert changed.isfinite().all() and (changed - plain).abs().max() > 1e-3
    torch.testing.assert_close(model(TOKENS), plain, atol=0, rtol=0)


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


@torch.no_grad()
@pytest.mark.parametrize("kind", ["bloom", "mpt"])
def test_biases_are_interpolated(kind, tmp_path):
    model = saved(tmp_path, kind, **({"max_seq_len": 32} if kind == "mpt" else {}))
    found = extended(model, "bias-interpolation")
    d = torch.arange(70, dtype=torch.float64)
    assert (found(TOKENS) - model(TOKENS)).abs().max() > 1e-3
    with pytest.raises(NotApplicable):
        extended(model, "ntk")
    assert model.scheme.distance_bias(d, 0).shape == (4, 70)


@torch.no_grad()
@pytest.mark.parametrize("kind", ["gpt2", "opt"])
@pytest.mark.parametrize("name", ["learned-clamp", "learned-interpolate", "learned-hierarchical"])
def test_tables_are_read_on(kind, name, tmp_path):
    model = saved(tmp_path, kind)
    with pytest.raises(OutOfRange):
        model(TOKENS)
    found = extended(model, name)
    assert found(TOKENS).isfinite().all()
    torch.testing.assert_close(found(TOKENS[:, :64]), model(TOKENS[:, :64]), atol=1e-5, rtol=1e-5)


def test_lora_tunes_a_checkpoint_and_merges(tmp_path):
    model = saved(tmp_path, "llama", **tiny.rope("default"))
    before = {name: t.clone() for name, t in model.state_dict().items()}
    lora = LoRA(rank=4, targets=("qkv", "gate"))
    lora.adapt(model)
    tuned = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(tuned, lr=1e-2)

    def loss() -> torch.Tensor:
        return F.cross_entropy(model(TOKENS[:, :-1]).flatten(0, 1), TOKENS[:, 1:].flatten())

    first = float(loss().detach())
    for _ in range(15):
        optimiser.zero_grad()
        now = loss()
        now.backward()
        optimiser.step()
    assert float(now.detach()) < first - 0.3
    merged = lora.merge(model.state_dict())
    plain = Checkpoint(str(tmp_path)).model()
    plain.load_state_dict(merged)
    torch.testing.assert_close(plain(TOKENS), model(TOKENS), atol=1e-4, rtol=1e-4)
    tuned_names = ("q_proj", "k_proj", "v_proj", "gate_proj")
    kept = [name for name in before if not any(t in name for t in tuned_names)]
    assert kept and all(torch.equal(before[name], merged[name]) for name in kept)
