"""Shaw against the paper's sums as loops."""

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes.shaw import Shaw
from tests.support.scheme_case import at, close, moved, qkv

SHAPE = Shape(dim=12, heads=2, layers=2, length=32)


@pytest.mark.parametrize("clip", [1, 3, 16])
@torch.no_grad()
def test_the_papers_sums(clip):
    s, T = moved(Shaw(SHAPE, clip)), 9
    q, k, v = qkv(SHAPE, T)
    ours = s.attend(q, k, v, at(s, T, layer=1))
    for h in range(2):
        for i in range(T):
            r = [min(i - j, clip) for j in range(i + 1)]
            e = torch.stack(
                [q[0, h, i] @ (k[0, h, j] + s.keys[1, r[j]]) / 6**0.5 for j in range(i + 1)]
            )
            a = e.softmax(0)
            close(ours[0, h, i], sum(a[j] * (v[0, h, j] + s.values[1, r[j]]) for j in range(i + 1)))
