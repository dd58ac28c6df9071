"""softmax_1 and the learned sink logit against published numbers and three other
implementations.
"""

from math import inf
from types import SimpleNamespace

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.sink import SinkLogit, SoftmaxOne
from tests.support.scheme_case import at, close, moved, qkv

SHAPE = Shape(dim=16, heads=2, layers=3)


@pytest.mark.parametrize("T", [1, 7, 40])
def test_equals_the_zero_attention_of_torch(T):
    """Identity projections, so that the module attends over q, k, v themselves."""
    theirs = torch.nn.MultiheadAttention(16, 2, bias=False, add_zero_attn=True, batch_first=True)
    theirs.in_proj_weight.data, theirs.out_proj.weight.data = (
        torch.eye(16).repeat(3, 1),
        torch.eye(16),
    )
    q, k, v = qkv(SHAPE, T, dtype=torch.float32)
    flat = [x.transpose(1, 2).flatten(2) for x in (q, k, v)]
    mask = torch.ones(T, T, dtype=torch.bool).triu(1)
    o = theirs(*flat, attn_mask=mask, need_weights=False)[0].unflatten(-1, (2, 8)).transpose(1, 2)
    close(SoftmaxOne(SHAPE).attend(q, k, v, at(SoftmaxOne(SHAPE), T)), o.detach(), 1e-5)


@pytest.mark.parametrize("layer", [0, 2])
def test_equals_the_sinks_of_gpt_oss(layer):
    from transformers.models.gpt_oss.modeling_gpt_oss import eager_attention_forward

    s, T = moved(SinkLogit(SHAPE)).float(), 20
    q, k, v = qkv(SHAPE, T, dtype=torch.float32)
    module = SimpleNamespace(sinks=s.logit[layer], num_key_value_groups=1, training=False)
    mask = torch.full((T, T), -inf).triu(1)[None, None]
    theirs, _ = eager_attention_forward(module, q, k, v, mask, s.scale)
    close(s.attend(q, k, v, at(s, T, layer)), theirs.transpose(1, 2), 1e-5)
