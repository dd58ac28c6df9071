"""A model in half precision is compared in float32, and as it is where that cannot be."""

import pytest
import torch

from extrap.pretrained import compared
from extrap.pretrained.adapter import Adapted
from tests.support import tiny_checkpoints as tiny


def made(dtype, layers=3):
    net = tiny.made("llama", num_hidden_layers=layers)
    for name, p in net.named_parameters():
        drawn = torch.randn(p.shape, generator=torch.Generator().manual_seed(len(name)))
        p.data = drawn * 0.25 if p.dim() > 1 else 1 + drawn * 0.5
    return net.to(dtype)


@pytest.mark.parametrize("fits", [True, False])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@torch.no_grad()
def test_rounding_is_no_difference_and_a_hotter_attention_is_one(dtype, fits, monkeypatch):
    if not fits:
        monkeypatch.setattr(compared, "memory", lambda: 0)
    net = made(dtype)
    ours = Adapted(net, 32)
    assert compared.difference(ours, net, 32) == 0
    for layer in ours.layers:
        layer.scale *= 1.12
    assert compared.difference(ours, net, 32) > 0


@torch.no_grad()
def test_the_roundings_of_many_layers_are_no_difference():
    """The mean square of these logits is more than ROUNDINGS off."""
    net = made(torch.bfloat16, layers=60)
    before = {name: p.clone() for name, p in net.named_parameters()}
    ours = Adapted(net, 32)
    own, apart = compared._both(ours, net, 32, True)
    most = compared.ROUNDINGS * torch.finfo(torch.bfloat16).eps * own.std()
    assert apart.square().mean().sqrt() > most
    assert compared.difference(ours, net, 32) == 0
    for name, p in net.named_parameters():
        assert p.dtype == torch.bfloat16 and torch.equal(p, before[name])
    ours.layers[30].scale *= 1.12
    assert compared.difference(ours, net, 32) > 0


@torch.no_grad()
def test_a_model_that_names_its_precision_is_compared_as_it_is():
    net = made(torch.bfloat16)

    def named(module, args):
        assert net.lm_head.weight.dtype == torch.bfloat16

    net.model.norm.register_forward_pre_hook(named)
    assert compared.difference(Adapted(net, 32), net, 32) == 0
