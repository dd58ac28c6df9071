"""KeyNorm and CosA against the cosine of torch."""

from math import log

import pytest
import torch
import torch.nn.functional as F

from extrap.model.scheme import Scheme, Shape
from extrap.schemes.keynorm import CosA, KeyNorm
from tests.support.scheme_case import at, close, qkv, scores

SHAPE = Shape(dim=16, heads=2, length=64)


def logits(s: Scheme, q, k):
    return scores(s, q, k, at(s, q.shape[2]))


def test_keynorm_forgets_the_length_of_keys_alone():
    s, (q, k, _) = KeyNorm(SHAPE), qkv(SHAPE, 9)
    close(logits(s, q, k), torch.einsum("bhid, bhjd -> bhij", q, k / k.norm(dim=-1, keepdim=True)))
    close(logits(s, q, 7 * k), logits(s, q, k))
    close(logits(s, 7 * q, k), 7 * logits(s, q, k))


def test_cosa_is_lam_times_the_cosine():
    s, (q, k, _) = CosA(SHAPE), qkv(SHAPE, 9)
    cosine = F.cosine_similarity(q[..., :, None, :], k[..., None, :, :], dim=-1)
    close(logits(s, q, k), 4 * log(32) * cosine)
    close(logits(CosA(SHAPE, 3.0), 5 * q, 7 * k), 3 * cosine)


@pytest.mark.parametrize("cls", [KeyNorm, CosA])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_zero_and_huge_vectors(cls, dtype):
    """A norm that does not fit float16 still divides right; a zero vector stays zero."""
    s, x = cls(SHAPE), torch.full((1, 2, 3, 8), 6e4).to(dtype)
    x[:, :, 1] = 0
    _, k = s.rotate(x, x, at(s, 3))
    assert k.dtype == dtype and not k[:, :, 1].any()
    close(k[:, :, 0].float().norm(dim=-1), torch.ones(1, 2), 1e-2)
