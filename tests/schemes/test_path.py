"""PaTH against the product of its matrices token by token."""

import pytest
import torch

from extrap.model import attention as kernels
from extrap.model.scheme import Shape
from extrap.schemes import path
from extrap.schemes.path import PaTH
from tests.support.scheme_case import at, close, hidden, moved, qkv

SHAPE = Shape(dim=12, heads=2, layers=2, length=32)


def product(w: torch.Tensor, b: torch.Tensor, j: int, i: int) -> torch.Tensor:
    """H_{j+1} H_{j+2} .. H_i of one head: w (T, D), b (T,)."""
    H = torch.eye(w.shape[1], dtype=w.dtype)
    for t in range(j + 1, i + 1):
        H = H @ (torch.eye(w.shape[1], dtype=w.dtype) - b[t] * torch.outer(w[t], w[t]))
    return H


@pytest.mark.parametrize("chunk", [1, 3, 64])
@pytest.mark.parametrize("rows", [1, 4, 256])
@torch.no_grad()
def test_the_papers_products(chunk, rows, monkeypatch):
    monkeypatch.setattr(path, "CHUNK", chunk)
    s, T = moved(PaTH(SHAPE, rank=5)), 11
    x = hidden(SHAPE, T)
    q, k, _ = qkv(SHAPE, T)
    place = at(s, T, layer=1, x=x)
    w, b = s.reflections(x, 1)
    for start in range(0, T, rows):
        here = place.block(start, min(start + rows, T))
        ours = s.score(q[:, :, here.i], k[:, :, here.j], here)
        for h in range(2):
            for row, i in enumerate(here.i.tolist()):
                for j in range(i + 1):
                    logit = k[0, h, j] @ product(w[0, h], b[0, h], j, i) @ q[0, h, i] / 6**0.5
                    assert float(ours[0, h, row, j]) == pytest.approx(float(logit), abs=1e-12)


@torch.no_grad()
def test_reflections_are_made_of_the_last_tokens():
    """w and b as a loop: low rank, three taps, silu, length 1; b between 0 and 2."""
    s, T = moved(PaTH(SHAPE, rank=3)), 6
    x = hidden(SHAPE, T)
    w, b = s.reflections(x, 1)
    for t in range(T):
        u = torch.zeros(12, dtype=torch.float64)
        for m in range(3):
            if t >= m:
                u += s.taps[1, :, 2 - m] * (s.up[1] @ s.down[1] @ x[0, t - m])
        u = (u * u.sigmoid()).view(2, 6)
        close(w[0, :, t], u / u.norm(dim=-1, keepdim=True))
        close(b[0, :, t], 2 * (s.beta[1] @ x[0, t] + s.c[1]).sigmoid())


@torch.no_grad()
def test_long_products_stay_exact_in_float32(monkeypatch):
    """600 reflections, in chunks and blocks, against float64 in one piece."""
    shape, T = Shape(dim=16, heads=2, layers=1, length=64), 600
    s = moved(PaTH(shape))
    x, (q, k, v) = hidden(shape, T)[:1], qkv(shape, T, batch=1)
    exact = s.attend(q, k, v, at(s, T, x=x))
    low = s.float()
    place = at(low, T, x=x.float())
    close(kernels.explicit(low, *(z.float() for z in (q, k, v)), place).double(), exact, 2e-4)
