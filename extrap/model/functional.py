"""Arithmetic that schemes share: softmax, sinusoids, buckets, and reading or writing by distance
without anything of size (T, T, D).
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from math import log
from typing import Any
from warnings import warn

import torch
import torch.nn.functional as F
from torch import Tensor

from extrap.model.where import Where


def wide(x: Tensor) -> Tensor:
    """Returns x in float32 at least."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def in_full(x: Tensor) -> AbstractContextManager[Any]:
    """Inside, products have the type of their factors: autocast is off on the device of x."""
    device = x.device.type
    if torch.amp.is_autocast_available(device):
        return torch.autocast(device, enabled=False)
    return nullcontext()


def product(q: Tensor, k: Tensor) -> Tensor:
    """Returns q k^T in float32 at least, inside autocast as well."""
    with in_full(q):
        return wide(q) @ wide(k).mT


def linear(x: Tensor, weight: Tensor) -> Tensor:
    """Returns x weight^T, (..., C), (V, C) -> (..., V). On a GPU the rows of the weight are filled
    up to a multiple of 64: in 16 bits a width that is no multiple of 8 takes kernels of a sixth of
    the rate (benchmarks/README.md).
    """
    V = len(weight)
    missing = -V % 64
    if x.device.type != "cuda" or not missing:
        return F.linear(x, weight)
    filled = F.pad(weight, (0, 0, 0, missing))
    return F.linear(x, filled)[..., :V]


def softmax(s: Tensor, sink: Tensor | None) -> Tensor:
    """Returns exp(s_j) / (exp(sink) + sum exp(s)) over the last axis, in float32 at least; without
    a sink the plain softmax.

    sink = 0 is softmax_1, https://www.evanmiller.org/attention-is-off-by-one.html.
    """
    s = wide(s)
    if sink is None:
        return s.softmax(-1)
    of_heads = sink.to(s.dtype)[:, None, None]
    nowhere = of_heads.expand(*s.shape[:-1], 1)
    weights = torch.cat([nowhere, s], -1).softmax(-1)
    return weights[..., 1:]


def frequencies(n: int, base: float = 10000.0) -> Tensor:
    """Returns theta_p = base**(-2p/n), p = 0 .. n/2 - 1, float64. arXiv 1706.03762."""
    channel = torch.arange(0, n, 2, dtype=torch.float64)
    return base ** (-channel / n)


def check_length(length: int) -> None:
    """Raises ValueError for a training length whose logarithm is 0."""
    if length < 2:
        raise ValueError(f"training length {length}: ln n says nothing below 2")


def check_even(dim: int, what: str = "sinusoids") -> None:
    """Raises ValueError for a width that does not fall into pairs of channels."""
    if dim % 2:
        raise ValueError(
            f"{what} come in pairs of channels; dim={dim} is odd; give an even model.dim"
        )


def sinusoid(t: Tensor, n: int, base: float = 10000.0) -> Tensor:
    """Returns (*t.shape, n), float64: sin(t theta_p) in channel 2p, cos(t theta_p) in channel
    2p + 1. arXiv 1706.03762, section 3.5.
    """
    theta = frequencies(n, base).to(t.device)
    angle = t.double()[..., None] * theta
    pairs = torch.stack([angle.sin(), angle.cos()], -1)
    return pairs.flatten(-2)


def bucket(n: Tensor, buckets: int, max_distance: int) -> Tensor:
    """Returns T5's causal buckets of whole distances n >= 0: exact below e = buckets / 2, then
    logarithmic up to max_distance.

    bucket(n) = n for n < e, else min(buckets - 1, e + floor(ln(n / e) / ln(max_distance / e) *
    (buckets - e))). arXiv 1910.10683. Logarithms round: 1e-9 keeps a distance on a boundary from
    falling below it.
    """
    exact = buckets // 2
    log_n = (n.clamp(min=1).double() / exact).log()
    share = log_n / log(max_distance / exact)
    far = share * (buckets - exact)
    logarithmic = exact + (far + 1e-9).floor().long()
    logarithmic = logarithmic.clamp(max=buckets - 1)
    return torch.where(n < exact, n, logarithmic)


def gather(rows: Tensor, n: Tensor) -> Tensor:
    """Reads entry n[i, j] of row i: (B, H, Tq, K) -> (B, H, Tq, Tk); n (Tq, Tk) whole, below K."""
    index = n.expand(*rows.shape[:-2], *n.shape)
    return rows.gather(-1, index)


def scatter(a: Tensor, n: Tensor, size: int) -> Tensor:
    """Sums row i over keys of equal n[i, j]: (B, H, Tq, Tk) -> (B, H, Tq, size)."""
    sums = a.new_zeros(*a.shape[:-1], size)
    index = n.expand_as(a)
    return sums.scatter_add(-1, index, a)


def gather_of_keys(rows: Tensor, n: Tensor) -> Tensor:
    """Reads entry n[i, j] of row j: (B, H, Tk, K) -> (B, H, Tq, Tk); n (Tq, Tk) whole, below K.
    Reads in the order of the result, because a transposed gather would read in strides.
    """
    keys = rows.shape[-2]
    begins = torch.arange(keys, device=n.device) * rows.shape[-1]
    place = (begins + n).flatten()
    index = place.expand(*rows.shape[:-2], -1)
    entries = rows.flatten(-2).gather(-1, index)
    return entries.unflatten(-1, n.shape)


def sum_by_steps(a: Tensor, at: Where, last: int) -> Tensor:
    """Sums over the keys at min(steps, last): (B, H, Tq, Tk) -> (B, H, Tq, last + 1), for a that is
    0 at keys after the query. For a small `last` it reads the diagonals and subtracts them from the
    whole; else it scatters.
    """
    if at.spacing != 1.0 or not at.causal or last > len(at.j) // 8:
        n = at.steps.clamp(max=last)
        return scatter(a, n, last + 1)
    back = torch.arange(last, device=a.device)
    key = at.i[:, None] - back
    place = key.clamp(min=0).expand(*a.shape[:-1], last)
    near = a.gather(-1, place).masked_fill(key < 0, 0)
    wide = torch.promote_types(a.dtype, torch.float32)
    whole = a.sum(-1, keepdim=True, dtype=wide)
    far = whole - near.sum(-1, keepdim=True, dtype=wide)
    return torch.cat([near, far.to(a.dtype)], -1)


def by_distance(rows: Tensor, at: Where) -> Tensor:
    """Reads entry min(i - j, K - 1) of row i: (B, H, Tq, K) -> (B, H, Tq, Tk); any where j > i.

    Rows stand one after another, each one place too long; read at the right width, each row begins
    one place later than the one before: the skewing of Music Transformer, arXiv 1809.04281, section
    3.4, with clipped distances. Forward and backward are copies. If tokens do not follow one
    another, and on a GPU, it gathers entries.
    """
    size = rows.shape[-1]
    if not _ends_together(at):
        return gather(rows, at.back.clamp(0, size - 1))
    n = len(at.i)
    keys = len(at.j)
    beyond = max(0, keys - size)
    far = rows[..., -1:].expand(*rows.shape[:-1], beyond)
    near = rows[..., :keys].flip(-1)
    left_over = rows.new_zeros(*rows.shape[:-1], 1)
    wide = torch.cat([far, near, left_over], -1)  # distances keys - 1 .. 0
    begin = n - 1
    skewed = wide.flatten(-2)[..., begin : begin + n * keys]
    return skewed.unflatten(-1, (n, keys))


def by_step(rows: Tensor, at: Where) -> Tensor:
    """Reads by steps, whole distances of coordinates, in place of i - j."""
    if at.spacing != 1.0:
        n = at.steps.clamp(max=rows.shape[-1] - 1)
        return gather(rows, n)
    return by_distance(rows, at)


def _ends_together(at: Where) -> bool:
    """True if the queries are the last of the keys, one token after the other; False on a GPU, to
    wait for nothing, and compiled.
    """
    n = len(at.i)
    keys = len(at.j)
    costly = at.i.device.type != "cpu" or torch.compiler.is_compiling()
    if costly or not at.causal or not 0 < n <= keys:
        return False
    last = int(at.i[-1])
    ends = int(at.i[0]), int(at.j[0]), int(at.j[-1])
    return ends == (last - n + 1, last - keys + 1, last)


def table_limit(name: str, value: int | None, default: int, least: int, most: int) -> int:
    """Returns the clip or span of a table of distances; None stands for the default.

    Raises ValueError unless least <= limit <= most. Past `most` training never reaches the last
    entry, and that entry serves all greater lengths.
    """
    limit = default if value is None else value
    if not least <= limit <= most:
        raise ValueError(
            f"{name}={limit}: must lie between {least} and {most}, where training still reaches "
            "the last entry"
        )
    return limit


def table_rows(rows: int | None, length: int) -> int:
    """Returns the rows of a table of positions; None stands for the training length. Raises
    ValueError for fewer than that, and warns of more.
    """
    rows = length if rows is None else rows
    if rows < length:
        raise ValueError(f"rows={rows}: the table must hold the training length {length}")
    if rows > length:
        warn(
            f"rows={rows}: positions from {length}, the training length, on are trained only if "
            "randomised",
            stacklevel=3,
        )
    return rows


def between(row: Callable[[Tensor], Tensor], t: Tensor, last: int) -> Tensor:
    """Returns rows (n, C) at real coordinates t (n,) >= 0: linear from row(floor(t)) to the next,
    exact at whole t, row(last) past the end.
    """
    low = t.floor()
    u = (t - low)[:, None]
    first = low.long()
    a = row(first.clamp(max=last))
    b = row((first + 1).clamp(max=last))
    return torch.lerp(a, b, u.to(a.dtype))


def causal_convolution(x: Tensor, taps: Tensor) -> Tensor:
    """Returns y_t = sum_m taps[n-1-m] x_{t-m} of each channel: (B, T, C), (C, n) -> (B, T, C); x is
    zero before the text.
    """
    channels, n = taps.shape
    padded = F.pad(x.transpose(1, 2), (n - 1, 0))
    y = F.conv1d(padded, taps[:, None], groups=channels)
    return y.transpose(1, 2)
