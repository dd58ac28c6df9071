"""The only place where attention is computed. The kernel follows from which hooks a scheme overrides, never from a flag.

    attend                    the scheme computes attention itself
    score, mix                explicit, by blocks of query rows
    sees, bias, or distance_bias at uneven coordinates    fused, with a mask per block of rows
    distance_bias, sink       fused, with a zero-copy relative bias per block of rows
    otherwise                 fused causal, the temperature folded into q

Memory beyond q, k, v and the output is at most ROWS x T per head, so it grows linearly with the length. Every kernel equals
Scheme.attend (tests/test_attention.py).
"""

from collections.abc import Callable
from math import inf

import torch
import torch.nn.functional as F
from torch import Tensor

from extrap.model.scheme import Scheme, Where, attend_rows

ROWS = 256

Kernel = Callable[[Scheme, Tensor, Tensor, Tensor, Where], Tensor]


def kernel(scheme: Scheme, at: Where) -> Kernel:
    """The fastest kernel that computes what this scheme defines."""
    if scheme.uses("attend"):
        return owned
    if scheme.uses("score", "mix"):
        return explicit
    if scheme.uses("sees", "bias") or not at.causal or (at.spacing is None and scheme.uses("distance_bias")):
        return masked
    if scheme.uses("distance_bias", "sink"):
        return strided
    return fused


def attention(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
    """(B, H, T, D) queries, keys, values not yet rotated -> (B, H, T, D)."""
    return kernel(scheme, at)(scheme, q, k, v, at)


def owned(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
    return scheme.attend(q, k, v, at)


def explicit(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
    q, k = scheme.rotate(q, k, at)

    def rows(q: Tensor, k: Tensor, v: Tensor, here: Where) -> Tensor:
        return attend_rows(scheme, q, k, v, here)

    return _by_rows(rows, q, k, v, at)


def masked(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
    """A float mask per block holds biases and visibility; a sink is one more key, of value zero."""
    q, k = scheme.rotate(q, k, at)

    def rows(q: Tensor, k: Tensor, v: Tensor, here: Where) -> Tensor:
        b = q.new_zeros(1, 1, 1, 1)
        for more in (scheme.distance_bias(here.distance, here.layer), scheme.bias(q, k, here)):
            if more is not None:
                b = b + more.to(q.dtype)
        mask = b.expand(*b.shape[:2], *here.back.shape).masked_fill(~here.visible, -inf)
        sink = scheme.sink(here)
        if sink is not None:
            nowhere = sink.to(q.dtype)[:, None, None].expand(len(mask), -1, mask.shape[2], 1)
            mask = torch.cat([nowhere, mask.expand(-1, len(sink), -1, -1)], -1)
            k, v = _phantom(k), _phantom(v)
        return F.scaled_dot_product_attention(_heated(scheme, q, here), k, v, attn_mask=mask, scale=here.scale)

    return _by_rows(rows, q, k, v, at)


def strided(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
    """With the queries of a block flipped, a bias in i - j becomes one in a sum of indices: an overlapping view of a vector.

    The vector also holds the causal -inf. The phantom key of a sink comes first and would receive the bias of distance
    i + 1, so one more channel of q and k takes that back and puts the sink there.
    """
    q, k = scheme.rotate(q, k, at)
    spacing = 1.0 if at.spacing is None else at.spacing  # a sink alone does not ask for distances
    d = torch.arange(at.length, -1, -1, device=q.device, dtype=torch.float64) * spacing
    b, sink = scheme.distance_bias(d, at.layer), scheme.sink(at)
    if b is None and sink is None:
        return _fused(_heated(scheme, q, at), k, v, at)
    b = q.new_zeros(1 if sink is None else len(sink), at.length + 1) if b is None else b.to(q.dtype)
    w = F.pad(b, (0, ROWS), value=-inf)

    def rows(q: Tensor, k: Tensor, v: Tensor, here: Where) -> Tensor:
        # Row a of the flipped block is token i = stop - 1 - a: its bias for key j, at distance i - j, is w[first + a + j].
        q, n, width = _heated(scheme, q, here), q.shape[2], v.shape[3]
        first = at.length - k.shape[2] + 1
        if sink is not None:
            back = (sink.to(q.dtype)[:, None] - b[:, at.length - here.i - 1]) / here.scale
            q = torch.cat([q, back[..., None].expand(len(q), -1, -1, -1)], -1)
            k = torch.cat([F.pad(k.new_zeros(*k.shape[:2], 1, k.shape[3]), (0, 1), value=1.0), F.pad(k, (0, 1))], 2)
            v, first = _phantom(F.pad(v, (0, 1))), first - 1  # fused kernels want one width
        view = w[:, first:]
        view = view.as_strided((1, len(w), n, k.shape[2]), (0, w.stride(0), 1, 1), view.storage_offset())
        if q.device.type != "cpu":  # GPU kernels want rows that do not overlap
            view = view.contiguous()
        return F.scaled_dot_product_attention(q.flip(2), k, v, attn_mask=view, scale=here.scale).flip(2)[..., :width]

    return _by_rows(rows, q, k, v, at)


def fused(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
    q, k = scheme.rotate(q, k, at)
    return _fused(_heated(scheme, q, at), k, v, at)


def _fused(q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=at.causal, scale=at.scale)


def _heated(scheme: Scheme, q: Tensor, at: Where) -> Tensor:
    c = scheme.temperature(at)
    return q if c is None else q * c.to(q.dtype)


def _phantom(x: Tensor) -> Tensor:
    return F.pad(x, (0, 0, 1, 0))


def _by_rows(rows: Callable[[Tensor, Tensor, Tensor, Where], Tensor], q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
    """Rows in blocks, each against the keys it may see."""
    out = []
    for start in range(0, at.length, ROWS):
        here = at.block(start, min(start + ROWS, at.length))
        keys = len(here.j)
        out.append(rows(q[:, :, start : start + ROWS], k[:, :, :keys], v[:, :, :keys], here))
    return out[0] if len(out) == 1 else torch.cat(out, 2)
