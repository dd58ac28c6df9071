"""Temperatures and lengths of keys: log-n, scalable softmax, KeyNorm and CosA."""

from dataclasses import replace
from math import log

import pytest
import torch
import torch.nn.functional as F

from extrap.model.scheme import Scheme, Shape
from extrap.model.stack import Stack
from extrap.schemes.keynorm import CosA, KeyNorm
from extrap.schemes.log_n import LogN
from extrap.schemes.ssmax import SSMax
from extrap.schemes.window import Window
from tests.support.scheme_case import at, close, moved, pairs, qkv, scores, weights


def temperature(s: Scheme, T: int) -> torch.Tensor:
    return s.temperature(replace(at(s, T), sees=s.sees)).flatten()


def test_log_n_published_factors():
    c = temperature(LogN(Shape(4, 1, length=512)), 1024)
    assert float(c[1023]) == pytest.approx(1.111111, abs=1e-6)
    assert float(c[63]) == pytest.approx(0.666667, abs=1e-6)
    assert float(c[511]) == 1


def test_clipped_log_n_changes_nothing_up_to_the_training_length():
    c = temperature(LogN(Shape(4, 1, length=16), floor=1.0), 32)
    assert torch.equal(c[:16], torch.ones(16, dtype=torch.float64)) and (c[16:].diff() > 0).all()


def test_log_n_counts_the_keys_a_window_leaves():
    shape = Shape(4, 1, length=64)
    s = Stack(shape, [LogN(shape), Window(shape, 8)])
    assert temperature(s, 64)[7:].tolist() == pytest.approx([log(8) / log(64)] * 57)


THREE = Shape(dim=16, heads=2, layers=3, length=64)


def test_ssmax_starts_as_log_n():
    s, place = SSMax(THREE).requires_grad_(False), at(SSMax(THREE), 100)
    assert s.s.shape == (3, 2)
    close(s.temperature(place), LogN(THREE, 0.0).temperature(place).expand(2, -1, -1), 1e-6)
    assert float(s.temperature(place)[0, 63]) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("layer", [0, 2])
def test_ssmax(layer):
    """a_ij = n_i**(s l_ij) / sum_j n_i**(s l_ij)."""
    s, T = moved(SSMax(THREE)), 7
    q, k, _ = qkv(THREE, T, batch=1)
    z, slope = q[0] @ k[0].mT * s.scale, s.s.detach()[layer]
    powers = pairs(T, lambda h, i, j: (i + 1) ** (slope[h] * z[h, i, j]))
    close(weights(s, q, k, at(s, T, layer))[0], powers / powers.sum(-1, keepdim=True))


TWO = Shape(dim=16, heads=2, length=64)


def logits(s: Scheme, q, k):
    return scores(s, q, k, at(s, q.shape[2]))


def test_keynorm_forgets_the_length_of_keys_alone():
    s, (q, k, _) = KeyNorm(TWO), qkv(TWO, 9)
    close(logits(s, q, k), torch.einsum("bhid, bhjd -> bhij", q, k / k.norm(dim=-1, keepdim=True)))
    close(logits(s, q, 7 * k), logits(s, q, k))
    close(logits(s, 7 * q, k), 7 * logits(s, q, k))


def test_cosa_is_lam_times_the_cosine():
    s, (q, k, _) = CosA(TWO), qkv(TWO, 9)
    cosine = F.cosine_similarity(q[..., :, None, :], k[..., None, :, :], dim=-1)
    close(logits(s, q, k), 4 * log(32) * cosine)
    close(logits(CosA(TWO, 3.0), 5 * q, 7 * k), 3 * cosine)


@pytest.mark.parametrize("cls", [KeyNorm, CosA])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_norms_of_zero_and_huge_vectors(cls, dtype):
    """A norm that does not fit float16 still divides right; a zero vector stays zero."""
    s, x = cls(TWO), torch.full((1, 2, 3, 8), 6e4).to(dtype)
    x[:, :, 1] = 0
    _, k = s.rotate(x, x, at(s, 3))
    assert k.dtype == dtype and not k[:, :, 1].any()
    close(k[:, :, 0].float().norm(dim=-1), torch.ones(1, 2), 1e-2)
