"""Clipped RoPE against the authors' mask written out."""

from math import cos, pi

import pytest

from extrap.extensions.clipped_rope import ClippedRoPE
from extrap.model.scheme import Shape
from extrap.schemes.multi_axis_rope import MultiAxisRoPE
from tests.support.extension_case import close, rope, row, theta


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


def test_each_grid_is_clipped_by_itself():
    s = MultiAxisRoPE(Shape(dim=16, heads=1, length=64), axes=2)
    close(theta(ClippedRoPE("hard", 1), s), row(1, 0.1, 0.01, 0, 1, 0.1, 0.01, 0))
