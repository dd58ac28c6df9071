"""A model in half precision is compared by the root of the mean square of its logits."""

import pytest
import torch

from extrap.pretrained.adapter import Adapted
from extrap.pretrained.compared import difference
from tests.support import tiny_checkpoints as tiny


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@torch.no_grad()
def test_rounding_is_no_difference_and_a_hotter_attention_is_one(dtype):
    net = tiny.made("llama")
    for name, p in net.named_parameters():
        drawn = torch.randn(p.shape, generator=torch.Generator().manual_seed(len(name)))
        p.data = drawn * 0.25 if p.dim() > 1 else 1 + drawn * 0.5
    net = net.to(dtype)
    made = Adapted(net, 32)
    assert difference(made, net, 32) == 0
    for layer in made.layers:
        layer.scale *= 1.12
    assert difference(made, net, 32) > 0
