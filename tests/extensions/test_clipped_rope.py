"""Clipped RoPE against the authors' mask written out, by hand for small grids, and p-RoPE, which
the hard edge is.
"""

from math import cos, pi

import pytest

from extrap.extensions.clipped_rope import ClippedRoPE
from extrap.model.scheme import Shape
from extrap.model.spectrum import frequencies_used
from extrap.schemes.multi_axis_rope import MultiAxisRoPE
from extrap.schemes.p_rope import PRoPE
from extrap.schemes.rope import RoPE
from extrap.utils.errors import NotApplicable
from tests.support.extension_case import close, rope, row, theta


def test_by_hand():
    """d = 8, L = 64: theta = 1, .1, .01, .001; 10, 1.02, .1 and .01 turns in training."""
    close(theta(ClippedRoPE("smooth", 3), rope()), row(1, 0.1, 0.005, 0))
    close(theta(ClippedRoPE("hard", 3), rope()), row(1, 0, 0, 0))
    close(theta(ClippedRoPE("hard"), rope()), row(1, 0.1, 0, 0))
    close(theta(ClippedRoPE("smooth"), rope()), row(1, 0.1, 0.01, 0))


@pytest.mark.parametrize("edge", ["smooth", "hard"])
def test_the_authors_mask_on_llama_3(edge):
    """20 of 64 pairs of base 500000, the last of them, by a raised cosine."""
    s = rope(128, 8192, 500000.0)
    ours = theta(ClippedRoPE(edge, 20), s)
    for p in range(64):
        mask = 1.0
        if p >= 44:
            mask = 0.5 * (1 + cos(pi * (p - 44) / 19)) if edge == "smooth" else 0.0
        assert float(ours[p]) == pytest.approx(500000 ** (-p / 64) * mask, abs=1e-15)


def test_a_hard_edge_is_p_rope():
    s, cut = rope(16), PRoPE(Shape(dim=16, heads=1, length=64), fraction=0.75)
    close(theta(ClippedRoPE("hard", 2), s), frequencies_used(cut, 10))


def test_each_grid_is_clipped_by_itself():
    s = MultiAxisRoPE(Shape(dim=16, heads=1, length=64), axes=2)
    close(theta(ClippedRoPE("hard", 1), s), row(1, 0.1, 0.01, 0, 1, 0.1, 0.01, 0))


def test_refusals():
    with pytest.raises(ValueError, match="clipped=0"):
        ClippedRoPE(clipped=0)
    fast = RoPE(Shape(16, 2, length=7000), base=10.0)
    with pytest.raises(NotApplicable, match="leaves every frequency there as it is"):
        ClippedRoPE("hard").extend(fast)
