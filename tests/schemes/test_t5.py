"""T5's buckets against transformers and whole numbers."""

import warnings

import pytest
import torch

from extrap.model.functional import bucket
from extrap.model.scheme import Shape
from extrap.schemes.t5 import T5
from tests.support.scheme_case import moved

SHAPE = Shape(dim=12, heads=2, layers=2, length=64)


@pytest.mark.parametrize(
    "buckets, farthest",
    [(32, 128), (32, 64), (32, 32), (8, 32), (16, 64), (64, 256), (32, 1000), (4, 8), (128, 2048)],
)
def test_buckets_equal_transformers(buckets, farthest):
    from transformers.models.t5.modeling_t5 import T5Attention

    n = torch.arange(20000)
    theirs = T5Attention._relative_position_bucket(
        -n, bidirectional=False, num_buckets=buckets, max_distance=farthest
    )
    assert torch.equal(bucket(n, buckets, farthest), theirs)


@pytest.mark.sample(16)
@pytest.mark.parametrize("half", range(1, 65))
def test_boundaries_are_those_of_whole_numbers(half):
    """floor(ln(n / e) / ln(m / e) e) >= k  iff  n**e >= m**k e**(e - k), in whole numbers."""
    for m in range(half + 1, 330):
        n = torch.arange(half, m + 2)
        found = bucket(n, 2 * half, m) - half
        at_least = found.clamp(max=half).tolist()
        for d, k in zip(n.tolist(), at_least, strict=True):
            assert d**half >= m**k * half ** (half - k), (2 * half, m, d)
            above = k + 1
            if above < half:  # the last bucket has no end
                assert d**half < m**above * half ** (half - above), (2 * half, m, d)


@torch.no_grad()
def test_the_bias_is_the_entry_of_the_bucket():
    s = moved(T5(SHAPE, 8, 16))
    d = torch.tensor([[0.0, 3.0, 3.9999999], [4.5, 15.0, 1e6]], dtype=torch.float64)
    b = s.distance_bias(d, 0)
    assert b.shape == (2, 2, 3)
    for row, bins in enumerate([[0, 3, 4], [4, 7, 7]]):
        assert torch.equal(b[:, row], s.table[bins].T)


def test_warns_of_buckets_training_never_reaches():
    with pytest.warns(UserWarning, match="27 of 32"):
        T5(SHAPE, max_distance=128)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        T5(SHAPE), T5(Shape(dim=4, heads=1, length=114), max_distance=128)
    with pytest.warns(UserWarning, match="31 of 32"):
        T5(Shape(dim=4, heads=1, length=113), max_distance=128)
