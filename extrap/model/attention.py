"""Attention, computed here and nowhere else. The hooks that a scheme overrides, and the device,
choose the kernel; no flag does.

    attend                    the scheme computes attention itself
    score, normalise, mix     explicit, by blocks of query rows
    sees                      training on a GPU: flexible, which leaves out blocks of pairs
    sees, bias, distance_bias with a sink or at uneven coordinates
                              fused, with a mask per block of rows
    distance_bias             fused, with a zero-copy relative bias per block of rows
    otherwise                 fused causal, the temperature folded into q; a sink is one more token

A gate acts on the output of every kernel.

Memory beyond q, k, v and the output is at most ROWS x T per head and LOGITS in all: linear in the
length. Tests compare every kernel with Scheme.attend (tests/contracts/test_schemes.py).

Every kernel computes the query rows from `first` on: a caller that needs the end of a text alone
pays for no other rows.

Keys and values may have fewer heads G than queries: head h reads group h // (H / G), arXiv
2305.13245. Fused kernels take groups as they are; the definition and `explicit` repeat them.
"""

from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from extrap.model import flex
from extrap.model.learned_bias import LearnedBias, learns
from extrap.model.parts import check_causal
from extrap.model.scheme import Scheme, Where, attend_rows, centred_bias, product, softmax, wide

ROWS = 256
"""Query rows of a block, at most."""
TIMES = {"cuda": 4}
"""By device, how many times as many rows under a bias of distance alone."""

LOGITS = {"cpu": 2**22, "cuda": 2**28}
"""Logits of a block by device, over all heads and sequences, if a kernel lays out its bias or
weights: what a processor's cache holds, or a gigabyte in float32, which keeps a GPU busy. A block
has at least one row, and fewer rows the longer the text.
"""

Kernel = Callable[..., Tensor]
"""(scheme, q, k, v, at, first=0) -> rows of attention from `first` on: (B, H, T - first, D)."""


def kernel(scheme: Scheme, at: Where) -> Kernel:
    """Returns the fastest kernel that computes this scheme."""
    uses = partial(scheme.uses, layer=at.layer)
    if uses("attend"):
        return owned
    if uses("score", "normalise", "mix"):
        return explicit
    if flex.serves(scheme, at):
        return flexible
    if uses("sees", "bias") or not at.causal:
        return masked
    if uses("distance_bias"):
        return masked if at.spacing is None or uses("sink") else strided
    return fused


def attention(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where, first: int = 0) -> Tensor:
    """Unrotated queries (B, H, T, D), keys and values (B, G, T, D) -> (B, H, T - first, D): the
    gated output of the query rows from `first` on. Raises ValueError without a causal mask for a
    scheme that has no form without it.
    """
    if not at.causal:
        check_causal(scheme, at.layer)
    compute = kernel(scheme, at)
    o = compute(scheme, q, k, v, at, first)
    here = at.block(first, at.length) if first else at
    return scheme.gate(o, here)


def for_every_head(x: Tensor, heads: int) -> Tensor:
    """Repeats each group for every head that reads it: (B, G, T, D) -> (B, H, T, D)."""
    groups = x.shape[1]
    if groups == heads:
        return x
    return x.repeat_interleave(heads // groups, 1)


def owned(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where, first: int = 0) -> Tensor:
    H = q.shape[1]
    k = for_every_head(k, H)
    v = for_every_head(v, H)
    o = scheme.attend(q, k, v, at)
    return o[:, :, first:]


def explicit(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where, first: int = 0) -> Tensor:
    q, k = scheme.rotate(q, k, at)
    H = q.shape[1]
    k = for_every_head(k, H)
    v = for_every_head(v, H)
    rows = partial(attend_rows, scheme)
    return _by_rows(rows, q, k, v, at, _few(q), first)


def masked(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where, first: int = 0) -> Tensor:
    """Fused attention with biases and visibility in a float mask per block, sink included."""
    q, k = scheme.rotate(q, k, at)

    def rows(q: Tensor, k: Tensor, v: Tensor, here: Where) -> Tensor:
        b = _biases(scheme, q, k, here)
        mask = torch.where(here.visible, b, -inf)  # (Tq, Tk), (H, Tq, Tk) or (B, H, Tq, Tk)
        missing = 4 - mask.dim()
        mask = mask.view(*[1] * missing, *mask.shape)
        if (sink := scheme.sink(here)) is not None:
            H = len(sink)
            size = (len(mask), H, mask.shape[2], 1)
            nowhere = sink.to(q.dtype)[:, None, None].expand(size)
            mask = mask.expand(-1, H, -1, -1)
            mask = torch.cat([nowhere, mask], -1)
            k = _phantom(k)
            v = _phantom(v)
        heated = _heated(scheme, q, here)
        return _sdpa(heated, k, v, here, attn_mask=mask)

    return _by_rows(rows, q, k, v, at, _few(q), first)


def _biases(scheme: Scheme, q: Tensor, k: Tensor, here: Where) -> Tensor:
    """Returns the sum of all biases in the precision of q, 0 without any."""
    of_content = None
    if scheme.uses("bias", layer=here.layer):
        keys = for_every_head(k, q.shape[1])
        of_content = scheme.bias(q, keys, here)
    of_distance = centred_bias(scheme, here.distance, here.layer)
    b = None
    for more in (of_distance, of_content):
        if more is not None:
            b = wide(more) if b is None else b + wide(more)
    if b is None:
        return q.new_zeros(())
    return b.to(q.dtype)


def flexible(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where, first: int = 0) -> Tensor:
    """FlexAttention with the mask of the scheme; `masked` where torch cannot compile it."""
    plain = q, k
    q, k = scheme.rotate(q, k, at)
    if scheme.uses("temperature", layer=at.layer):  # by rows: they may count what a mask shows

        def rows(q: Tensor, k: Tensor, v: Tensor, here: Where) -> Tensor:
            return _heated(scheme, q, here)

        q = _by_rows(rows, q, k, v, at, ROWS, 0)
    try:
        o = flex.flex(scheme, q, k, v, at)
    except RuntimeError as error:
        if not flex.gives_up(error, q.device):
            raise
        return masked(scheme, *plain, v, at, first)
    return o[:, :, first:]


def strided(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where, first: int = 0) -> Tensor:
    """Fused attention with a bias of distance as a view of a vector. If the queries of a block are
    flipped, i - j becomes a sum of indices, and the bias, causal -inf included, an overlapping
    view. For even coordinates and no sink.
    """
    assert at.spacing is not None
    back = torch.arange(at.length - 1, -1, -1, device=q.device, dtype=torch.float64)
    distance = back * at.spacing
    b = centred_bias(scheme, distance, at.layer)
    if b is None:  # no bias in this layer
        return fused(scheme, q, k, v, at, first)
    q, k = scheme.rotate(q, k, at)
    b = b.to(q.dtype)
    q = _heated(scheme, q, at)
    forward = partial(_strided, at)
    if learns(q, b):
        H = q.shape[1]
        k = for_every_head(k, H)
        v = for_every_head(v, H)
        o = LearnedBias.apply(forward, q, k, v, b, at.scale)
        return o[:, :, first:]
    return forward(q, k, v, b, first)


def _strided(at: Where, q: Tensor, k: Tensor, v: Tensor, b: Tensor, first: int = 0) -> Tensor:
    """Attention of heated queries to rotated keys; b (H or 1, T): biases of T - 1 .. 0."""
    size = ROWS * TIMES.get(q.device.type, 1)
    w = F.pad(b, (0, size), value=-inf)  # (H, T + size)

    def rows(q: Tensor, k: Tensor, v: Tensor, here: Where) -> Tensor:
        # Row a of the flipped block is token i = stop - 1 - a; its bias for key j, at distance
        # i - j, is w[start + a + j].
        start = at.length - k.shape[2]
        shape = (1, len(w), q.shape[2], k.shape[2])
        strides = (0, w.shape[1], 1, 1)
        view = w.as_strided(shape, strides, start)
        if q.device.type != "cpu":  # GPU kernels want rows that do not overlap
            view = view.contiguous()
        flipped = _sdpa(q.flip(2), k, v, here, attn_mask=view)
        return flipped.flip(2)

    return _by_rows(rows, q, k, v, at, size, first)


def fused(scheme: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where, first: int = 0) -> Tensor:
    """Fused causal attention. A sink is a token before all others: its value is zero, and one more
    channel of q and k gives it its logit.
    """
    if 2 * first > at.length:  # a kernel with a mask costs up to twice as much a row
        return masked(scheme, q, k, v, at, first)
    q, k = scheme.rotate(q, k, at)
    q = _heated(scheme, q, at)
    if (sink := scheme.sink(at)) is None:
        o = _sdpa(q, k, v, at, is_causal=at.causal)
        return o[:, :, first:]
    B, H, T, D = q.shape
    G = k.shape[1]
    unscaled = sink.to(q.dtype) / at.scale
    logit = unscaled.view(1, H, 1, 1).expand(B, H, T, 1)
    q = _phantom(torch.cat([q, logit], -1))  # (B, H, 1 + T, D + 1)
    zero = k.new_zeros(B, G, 1, D)
    first_key = F.pad(zero, (0, 1), value=1.0)
    k = F.pad(k, (0, 1))
    k = torch.cat([first_key, k], 2)
    v = _phantom(F.pad(v, (0, 1)))  # fused kernels want one width
    o = _sdpa(q, k, v, at, is_causal=at.causal)
    return o[:, :, 1 + first :, :D]


def _sdpa(q: Tensor, k: Tensor, v: Tensor, at: Where, **mask: Any) -> Tensor:
    H = q.shape[1]
    b = mask.get("attn_mask")
    if b is not None and b.requires_grad and q.device.type == "cpu":
        # no fused kernel on a CPU gives a mask its gradient; torch's own formula then makes four
        # more passes over all pairs, for rows without any visible key
        k = for_every_head(k, H)
        v = for_every_head(v, H)
        a = softmax(product(q * at.scale, k) + b, None)
        return a.to(v.dtype) @ v
    grouped = k.shape[1] != H
    return F.scaled_dot_product_attention(q, k, v, scale=at.scale, enable_gqa=grouped, **mask)


def _heated(scheme: Scheme, q: Tensor, at: Where) -> Tensor:
    c = scheme.temperature(at)
    return q if c is None else q * c.to(q.dtype)


def _phantom(x: Tensor) -> Tensor:
    return F.pad(x, (0, 0, 1, 0))


def _few(q: Tensor) -> int:
    """Returns the rows of a block for a kernel that lays out logits."""
    B, H, T, _ = q.shape
    logits = LOGITS.get(q.device.type, LOGITS["cpu"])
    fit = logits // max(1, B * H * T)
    return max(1, min(ROWS, fit))


def _by_rows(
    rows: Callable[..., Tensor], q: Tensor, k: Tensor, v: Tensor, at: Where, size: int, first: int
) -> Tensor:
    """Computes rows(q, k, v, at) from `first` on in blocks, each against the keys that it may see.
    Without gradients the widest block comes first: the others reuse its memory, where growing
    blocks would each ask for more (DeBERTa at 16384 tokens: 1.6 GB instead of .2).
    """
    starts = range(first, at.length, size) or range(first, first + 1)  # no row is a block too
    order = starts if torch.is_grad_enabled() else reversed(starts)
    out = {}
    for start in order:
        stop = min(start + size, at.length)
        here = at.block(start, stop)
        queries = q[:, :, start:stop]
        keys = k[:, :, : len(here.j)]
        values = v[:, :, : len(here.j)]
        out[start] = rows(queries, keys, values, here)
    if len(out) == 1:
        return out[first]
    return torch.cat([out[start] for start in starts], 2)
