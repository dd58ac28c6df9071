"""Wall attention against its sum over channels as a loop, also in texts where quotients of gates
overflow.
"""

from math import exp, log

import pytest
import torch

from extrap.model.scheme import Shape
from extrap.schemes import wall
from extrap.schemes.wall import Wall
from tests.support.scheme_case import at, close, hidden, moved, qkv

SHAPE = Shape(dim=12, heads=2, layers=2, length=32)


@pytest.mark.parametrize("chunk, rows", [(1, 256), (3, 256), (16, 4), (16, 256)])
@torch.no_grad()
def test_the_sum_over_channels(chunk, rows, monkeypatch):
    monkeypatch.setattr(wall, "CHUNK", chunk)
    s, T = moved(Wall(SHAPE)), 10
    x = hidden(SHAPE, T)
    q, k, _ = qkv(SHAPE, T)
    place = at(s, T, layer=1, x=x)
    gates = (x[0] @ s.w[1].T + s.b[1]).sigmoid().view(T, 2, 6)
    for start in range(0, T, rows):
        here = place.block(start, min(start + rows, T))
        ours = s.score(q[:, :, here.i], k[:, :, here.j], here)
        for h in range(2):
            for row, i in enumerate(here.i.tolist()):
                for j in range(i + 1):
                    logits = sum(
                        float(q[0, h, i, c] * k[0, h, j, c])
                        * exp(sum(log(gates[t, h, c]) for t in range(j + 1, i + 1)))
                        for c in range(6)
                    )
                    assert float(ours[0, h, row, j]) == pytest.approx(logits / 6**0.5, abs=1e-12)


@torch.no_grad()
def test_nothing_overflows_in_long_texts():
    """3000 tokens that forget half each: 2**3000 is no float, and neighbours are exact."""
    shape, T = Shape(dim=4, heads=1), 3000
    s = Wall(shape, gate=0.0)
    s.w.zero_()
    q = k = torch.ones(1, 1, T, 4)
    logits = s.score(q[:, :, -5:], k, at(s, T, x=torch.zeros(1, T, 4)).block(T - 5, T))
    assert logits.isfinite().all()
    close(logits[0, 0, -1, -4:], 2 * 0.5 ** torch.arange(3.0, -1, -1), 1e-6)
    assert float(logits[0, 0, -1, 0]) == 0
