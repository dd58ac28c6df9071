"""Attention under a bias of distance that learns, in memory linear in the length.

    o_i = sum_j p_ij v_j,   p_ij = softmax_j(scale <q_i, k_j> + b[i - j]),   j <= i

Fused kernels give a mask its gradient by keeping all weights of all rows, quadratic in the length.
Here memory keeps q, k, v and the output alone; the backward computes the weights again, by blocks
of query rows. The gradient of b[m] is the sum of d loss / d logit_ij over the diagonal i - j = m,
over the batch, and over the heads if they share b.
"""

# pyright: reportIncompatibleMethodOverride=false

from collections.abc import Callable
from math import inf
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

BLOCK = 2**19
"""Logits in memory at a time, over all heads and sequences, unless one row has more."""

Forward = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def learns(q: Tensor, b: Tensor) -> bool:
    """True if b needs a gradient that this page computes: on a CPU, uncompiled, not in 16 bits."""
    if torch.compiler.is_compiling() or not (torch.is_grad_enabled() and b.requires_grad):
        return False
    exact = q.dtype in (torch.float32, torch.float64)
    return q.device.type == "cpu" and q.dtype == b.dtype and exact


class LearnedBias(torch.autograd.Function):
    """(forward, q, k, v, b, scale) -> forward(q, k, v, b), with gradients to q, k, v and b.

    q, k, v (B, H, T, D), rotated and heated; b (H or 1, T), the biases of distances T - 1 .. 0.
    forward computes the formula of this page without autograd.
    """

    @staticmethod
    def forward(
        ctx: Any, forward: Forward, q: Tensor, k: Tensor, v: Tensor, b: Tensor, scale: float
    ) -> Tensor:
        o = forward(q, k, v, b)
        ctx.save_for_backward(q, k, v, b, o)
        ctx.scale = scale
        return o

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Works on flipped rows: row a is token T - 1 - a. The bias of key j is then entry a + j of
        b, an overlapping view, and diagonals become anti-diagonals.
        """
        q, k, v, b, o = ctx.saved_tensors
        B, H, T, _ = q.shape
        mean = (g * o).sum(-1, keepdim=True)  # (B, H, T, 1) sum_j p_ij d p_ij
        mean = mean.flip(2)
        q = (q * ctx.scale).flip(2)
        g = g.flip(2)
        k = k.contiguous()
        v = v.contiguous()
        dq = torch.empty_like(q)
        dk = torch.zeros_like(k)
        dv = torch.zeros_like(v)
        fit = BLOCK // max(1, B * H * T)
        n = max(1, min(T, fit))
        w = F.pad(b, (0, n), value=-inf)  # keys after the query
        db = torch.zeros_like(w)
        for start in range(0, T, n):
            stop = min(start + n, T)
            rows = slice(start, stop)
            keys = T - start  # visible to the first of these rows
            seen = w[:, start:]
            size = (len(w), stop - start, keys)
            strides = (w.stride(0), 1, 1)
            view = seen.as_strided(size, strides, seen.storage_offset())
            Q = q[:, :, rows]
            K = k[:, :, :keys]
            V = v[:, :, :keys]
            G = g[:, :, rows]
            s = torch.matmul(Q, K.mT).add_(view)
            p = s.softmax(-1)
            dv[:, :, :keys] += torch.matmul(p.mT, G)
            dp = torch.matmul(G, V.mT)
            ds = dp.sub_(mean[:, :, rows]).mul_(p)
            dq[:, :, rows] = torch.matmul(ds, K)
            dk[:, :, :keys] += torch.matmul(ds.mT, Q)
            of_heads = ds.sum(0) if len(b) > 1 else ds.sum((0, 1))[None]
            db[:, start : stop + keys - 1] += antidiagonals(of_heads)
        return None, dq.flip(2).mul_(ctx.scale), dk, dv, db[:, :T], None


def antidiagonals(x: Tensor) -> Tensor:
    """Returns the sums of x[h, a, j] over a + j = m: (H, n, K) -> (H, n + K - 1)."""
    H, n, K = x.shape
    # cut into rows of n + K - 1 entries, row a begins a entries later than in one of n + K columns
    width = n + K - 1
    padded = F.pad(x, (0, n)).flatten(1)
    skewed = padded[:, : n * width]
    return skewed.view(H, n, width).sum(1)
