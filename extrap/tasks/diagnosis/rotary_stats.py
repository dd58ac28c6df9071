"""What turning pairs make of queries and keys, by formulas of the distance. arXiv 2609.39929.

A logit at distance D is g(D) = Re sum_p c_p e^(i theta_p D) + rest, c_p = q_p conj(k_p), where q_p,
k_p are pairs of channels as complex numbers, and the rest is of channels that never turn.

semantic     of a query and two keys: the probability that the key preferred at distance 0 is
             preferred at a distance drawn from 0 .. W - 1, if the difference of their logits were
             Gaussian: 1 - erfc(mu / (sigma sqrt 2)) / 2, mu and sigma of the difference over the
             distances, signed as at 0
positional   of a query and a key: the mean of |g(D + 1) - g(D)| over D = 0 .. W - 2, by |c|
band         theta_p of the pair with the greatest mean of |q_p| |k_p|
1/2 and 0 are what a head has that knows neither content nor place.
"""

import torch
from torch import Tensor

from extrap.model.rotary import Layout, pairing


def as_pairs(x: Tensor, layout: Layout, pairs: int) -> tuple[Tensor, Tensor]:
    """Returns channels (..., D) as complex pairs (..., P) and the rest (..., D - 2 P)."""
    both = x[..., pairing(layout, 2 * pairs).to(x.device)].double()
    return torch.view_as_complex(both.contiguous()), x[..., 2 * pairs :].double()


def logits(c: Tensor, theta: Tensor, window: int) -> Tensor:
    """Returns g (..., W), without the rest, at distances 0 .. W - 1."""
    angle = torch.outer(theta.double(), torch.arange(window, dtype=torch.float64).to(theta.device))
    return c.real @ angle.cos() - c.imag @ angle.sin()


def semantic(c: Tensor, rest: Tensor, theta: Tensor, window: int) -> Tensor:
    """Returns the semantic score (...) of differences c (..., P), rest (...) of two keys; nan where
    neither is preferred at distance 0.
    """
    g = logits(c, theta, window) + rest[..., None]
    sign, spread = g[..., 0].sign(), g.std(-1, correction=0)
    mu = g.mean(-1) * sign
    kept = 1 - torch.erfc(mu / (spread * 2**0.5)) / 2
    certain = spread <= 1e-12 * (c.abs().sum(-1) + rest.abs())
    return torch.where(certain, (mu > 0).double(), kept).where(sign != 0, torch.nan)


def positional(c: Tensor, theta: Tensor, window: int) -> Tensor:
    """Returns the positional score (...) of c (..., P); nan where c is 0."""
    return logits(c, theta, window).diff(dim=-1).abs().mean(-1) / c.abs().square().sum(-1).sqrt()


def band(q: Tensor, k: Tensor, theta: Tensor) -> Tensor:
    """Returns the band (...) in radians per token of q, k (..., T, P)."""
    return theta.double()[(q.abs().mean(-2) * k.abs().mean(-2)).argmax(-1)]
