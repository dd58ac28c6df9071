"""Transformer-XL and XLNet against XLNet's rel_attn_core and a double loop."""

from types import SimpleNamespace

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.transformer_xl import TransformerXL
from tests.support.scheme_case import at, close, lower, moved, qkv

SHAPE = Shape(dim=12, heads=2, layers=3, length=32)


def xlnet_weights(s, q, k, clamp, kind):
    """(B, H, T, T) of transformers, given our parameters of layer 1."""
    from transformers.models.xlnet.configuration_xlnet import XLNetConfig
    from transformers.models.xlnet.modeling_xlnet import XLNetModel, XLNetRelativeAttention

    T, H, D, C = q.shape[2], s.shape.heads, s.shape.head_dim, s.shape.dim
    oracle = XLNetRelativeAttention(XLNetConfig(d_model=C, n_head=H, d_inner=8, dropout=0.0)).eval()
    oracle.r_w_bias.data, oracle.r_r_bias.data = (
        p[min(1, len(p) - 1), :, 0] for p in (s.u.data, s.v.data)
    )
    model = SimpleNamespace(
        d_model=C,
        attn_type=kind,
        bi_data=False,
        clamp_len=clamp or -1,
        positional_embedding=XLNetModel.positional_embedding,
    )
    r = XLNetModel.relative_positional_encoding(model, T, T, bsz=len(q))
    r = torch.einsum("ibh,nh->ibn", r, s.w[1]).unflatten(-1, (H, D))
    hidden = (~lower(T)).float()[:, :, None, None].expand(T, T, len(q), H)
    q, k = q.permute(2, 0, 1, 3), k.permute(2, 0, 1, 3)
    return oracle.rel_attn_core(q, k, k, r, attn_mask=hidden, output_attentions=True)[1].permute(
        2, 3, 0, 1
    )


@pytest.mark.parametrize("sharing", ["shared", "per-layer"])
@pytest.mark.parametrize("kind", ["uni", "bi"])
@pytest.mark.parametrize(
    "T, heads, width, clamp", [(1, 1, 4, None), (7, 2, 6, None), (20, 3, 8, None), (20, 3, 8, 5)]
)
@torch.no_grad()
def test_equals_xlnet(sharing, kind, T, heads, width, clamp):
    shape = Shape(dim=heads * width, heads=heads, layers=2, length=32)
    s = moved(TransformerXL(shape, sharing, clamp)).float()
    q, k, _ = qkv(shape, T, dtype=torch.float32)
    ours = s.attend(q, k, torch.eye(T).expand(2, heads, T, T), at(s, T, layer=1))
    close(ours, xlnet_weights(s, q, k, clamp, kind), 1e-5)


@pytest.mark.parametrize("t", [[0.0, 0.3, 0.9, 4.0, 4.5, 11.0], [0.0, 0.25, 0.5, 0.75, 1.0, 1.25]])
@torch.no_grad()
def test_the_papers_sum_at_any_coordinates(t):
    s = moved(TransformerXL(SHAPE, "per-layer"))
    t, T = torch.tensor(t, dtype=torch.float64), len(t)
    q, k, _ = qkv(SHAPE, T)
    ours = s.bias(q, k, at(s, t, layer=2))
    theta = [10000 ** (-2 * p / 12) for p in range(6)]
    for i in range(T):
        for j in range(i + 1):
            angle = torch.tensor([float(t[i] - t[j]) * x for x in theta], dtype=torch.float64)
            r = (s.w[2] @ torch.cat([angle.sin(), angle.cos()])).view(2, 6)
            for h in range(2):
                expected = (s.u[2, h, 0] @ k[1, h, j] + (q[1, h, i] + s.v[2, h, 0]) @ r[h]) / 6**0.5
                close(ours[1, h, i, j], expected)
