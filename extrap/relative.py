"""Shared arithmetic of relative schemes: buckets, sinusoids, and reading or writing by distance without (T, T, D)."""

from math import log

import torch
from torch import Tensor


def frequencies(n: int, base: float = 10000.0) -> Tensor:
    """theta_p = base**(-2p/n), p = 0 .. n/2 - 1, float64; the grid of the paper, arXiv 1706.03762."""
    return base ** (-torch.arange(0, n, 2, dtype=torch.float64) / n)


def sinusoid(t: Tensor, n: int, base: float = 10000.0) -> Tensor:
    """(*t.shape, n): sin(t theta_p) in channel 2p, cos(t theta_p) in channel 2p + 1, float64. arXiv 1706.03762, section 3.5."""
    angle = t.double()[..., None] * frequencies(n, base).to(t.device)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2)


def bucket(n: Tensor, buckets: int, max_distance: int) -> Tensor:
    """T5's causal buckets of whole distances n >= 0: exact below e = buckets / 2, then logarithmic up to max_distance.

    bucket(n) = n for n < e, else min(buckets - 1, e + floor(ln(n / e) / ln(max_distance / e) * (buckets - e))).
    arXiv 1910.10683. The boundaries are computed in float64 from whole numbers.
    """
    exact = buckets // 2
    far = (n.clamp(min=1).double() / exact).log() / log(max_distance / exact) * (buckets - exact)
    return torch.where(n < exact, n, (exact + far.floor().long()).clamp(max=buckets - 1))


def gather(rows: Tensor, n: Tensor) -> Tensor:
    """(B, H, Tq, K) -> (B, H, Tq, Tk): entry n[i, j] of row i; n (Tq, Tk) whole, already clipped to K."""
    return rows.gather(-1, n.expand(*rows.shape[:-2], *n.shape))


def scatter(a: Tensor, n: Tensor, size: int) -> Tensor:
    """(B, H, Tq, Tk) -> (B, H, Tq, size): sums of row i over the keys of equal n[i, j]; the transpose of `gather`."""
    return a.new_zeros(*a.shape[:-1], size).scatter_add(-1, n.expand_as(a), a)
