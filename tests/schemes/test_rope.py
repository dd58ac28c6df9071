"""RoPE against two other implementations and the score in phases, in every layout."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.rotary import pairing, relayout
from extrap.model.scheme import Shape
from extrap.schemes.rope import RoPE
from tests.support.explicit_phase import between, logits
from tests.support.scheme_case import at, close, qkv, scores

ODD = [3, 0, 7, 2, 1, 6, 4, 5]
LAYOUTS = ["interleaved", "half", ODD]


def scheme(
    D: int = 8, layout="interleaved", base: float | None = 10000.0, length: int = 64
) -> RoPE:
    return RoPE(Shape(dim=2 * D, heads=2, length=length), base, layout)


def rotated(s: RoPE, x: torch.Tensor, t: float) -> torch.Tensor:
    return s.rotate(x[None], x[None], at(s, torch.tensor([t], dtype=torch.float64)))[0][0]


@given(t=st.lists(st.floats(0, 1e5), min_size=2, max_size=6), layout=st.sampled_from(LAYOUTS))
@settings(max_examples=15, deadline=None)
def test_score_in_phases_at_any_coordinates(t, layout):
    """Rotation under any pairing is the explicit-phase score of channels sorted into pairs."""
    s, t = scheme(8, layout), torch.tensor(sorted(t), dtype=torch.float64)
    q, k, _ = qkv(s.shape, len(t))
    order = pairing(layout, 8).flatten()
    expected = logits(q[..., order], k[..., order], between(t), s.spectrum(len(t))) * s.scale
    close(scores(s, q, k, at(s, t)), expected, 1e-9)


def llama_rotate(q, k, D, base):
    from transformers.models.llama import modeling_llama as llama

    config = llama.LlamaConfig(
        hidden_size=D,
        num_attention_heads=1,
        head_dim=D,
        rope_parameters={"rope_type": "default", "rope_theta": base},
    )
    cos, sin = llama.LlamaRotaryEmbedding(config)(q, torch.arange(q.shape[2])[None])
    return llama.apply_rotary_pos_emb(q, k, cos, sin)


def gptj_rotate(q, k, D, base):
    from transformers.models.gptj import modeling_gptj as gptj

    sin, cos = gptj.create_sinusoidal_positions(q.shape[2], D)[None].chunk(2, -1)
    return tuple(
        gptj.apply_rotary_pos_emb(x.transpose(1, 2), sin, cos).transpose(1, 2) for x in (q, k)
    )


@pytest.mark.parametrize(
    "oracle, layout, base",
    [(llama_rotate, "half", 500.0), (gptj_rotate, "interleaved", 10000.0)],
)
@pytest.mark.parametrize("D, T", [(4, 1), (8, 17), (64, 50)])
def test_equals_two_others(oracle, layout, base, D, T):
    s = scheme(D, layout, base)
    q, k, _ = qkv(s.shape, T, dtype=torch.float32)
    with torch.no_grad():
        for ours, theirs in zip(s.rotate(q, k, at(s, T)), oracle(q, k, D, base), strict=True):
            close(ours, theirs, 1e-5)


@pytest.mark.parametrize("layout", ["interleaved", "half"])
@pytest.mark.parametrize("position", [1.0, 4097.0, 1e6])
def test_cosines_of_a_float32_model_far_out(layout, position):
    """Unit vectors read off cos and sin; the reference is in extended precision."""
    s = scheme(64, layout)
    x = torch.zeros(32, 64)
    x[torch.arange(32), pairing(layout, 64)[:, 0]] = 1
    y = torch.cat([rotated(s, v[None], position) for v in x])
    angle = np.longdouble(position) * np.longdouble(10000) ** (
        -np.arange(0, 64, 2, dtype=np.longdouble) / 64
    )
    for c, reference in ((0, np.cos(angle)), (1, np.sin(angle))):
        ours = y[torch.arange(32), pairing(layout, 64)[:, c]].numpy()
        assert np.abs(ours - reference).max() <= 1e-6


@pytest.mark.parametrize("layout", LAYOUTS)
def test_bfloat16_rounds_once(layout):
    s = scheme(8, layout)
    x = qkv(s.shape, 4)[0].bfloat16()
    place = at(s, torch.arange(4094, 4098, dtype=torch.float64))
    y = s.rotate(x, x, place)[0]
    assert y.dtype == torch.bfloat16
    assert torch.equal(y, s.rotate(x.float(), x.float(), place)[0].bfloat16())


def test_tables_are_made_once_per_forward_and_scheme():
    """Layers share them; a second scheme and a wrapped spectrum in the same forward do not meet
    them.
    """
    a, b = scheme(8), scheme(8, base=50.0)
    q, k, _ = qkv(a.shape, 6)
    place, calls = at(a, 6), []
    theta = a.spectrum
    a.spectrum = lambda n: calls.append(n) or theta(n)
    first, second = a.rotate(q, k, place), a.rotate(q, k, place.at_layer(1, None))
    assert calls == [6] and torch.equal(first[0], second[0])
    close(b.rotate(q, k, place)[0], b.rotate(q, k, at(b, 6))[0])
    assert not torch.allclose(b.rotate(q, k, place)[0], first[0])
    assert a.rotate(q.float(), k.float(), place)[0].dtype == torch.float32


@pytest.mark.parametrize("source", LAYOUTS)
@pytest.mark.parametrize("target", LAYOUTS)
def test_converted_weights_give_the_same_logits(source, target):
    shape = Shape(dim=16, heads=2, layers=2, vocab=11)
    torch.manual_seed(0)
    a, b = (
        GPT(RoPE(shape, layout=layout), 11, Decoder(16, 2, 2)).double()
        for layout in (source, target)
    )
    state = a.state_dict()
    for name in [n for n in state if "qkv." in n]:
        q, k, v = state[name].chunk(3)
        assert torch.equal(relayout(relayout(q, 2, source, target), 2, target, source), q)
        state[name] = torch.cat([relayout(q, 2, source, target), relayout(k, 2, source, target), v])
    x = torch.arange(22).view(2, 11) % 11
    assert source == target or not torch.allclose(a(x), GPT.forward(b, x))
    b.load_state_dict(state)
    close(a(x), b(x), 1e-10)


@pytest.mark.parametrize("length, base", [(128, 121.2), (256, 365.3), (2048, 10000.0)])
def test_matched_base(length, base):
    assert scheme(base=None, length=length).base == pytest.approx(base, rel=1e-3)
