"""Attention weights and gradients boiled down. a (..., T, T) are weights of queries (rows) and
keys; profiles are (..., T) over keys.
"""

import math

import torch
from torch import Tensor

FIRST = 8  # rows before it see so few keys that a large share says nothing
SINK = 0.3  # mean attention to token 0 from which a head counts as a sink, arXiv 2410.10781


def uniform(n: int) -> Tensor:
    """(n,) what `mass` is when every query looks at all it sees alike: the mean over rows i of 1[j
    <= i] / (i + 1).

    It falls with j by itself, so that no column mean means anything unless it is divided by this.
    """
    seen = torch.ones(n, n, dtype=torch.float64).tril()
    count = seen.sum(1, keepdim=True)
    return mass(seen / count)


def mass(a: Tensor) -> Tensor:
    """(..., T): mean attention to each key over the rows from FIRST on."""
    return a[..., FIRST:, :].mean(-2)


def entropy(a: Tensor) -> Tensor:
    """(..., T): H_i = -sum_j a_ij ln a_ij in nats, 0 ln 0 = 0. What a row lacks to 1 went to a sink
    and counts as one event.
    """
    total = a.sum(-1, keepdim=True)
    nowhere = (1 - total).clamp(min=0)
    sink = nowhere.where(nowhere > 1e-6, 0.0)
    events = torch.cat([a, sink], -1)
    return torch.special.entr(events).sum(-1)


def relative_entropy(a: Tensor, visible: Tensor) -> Tensor:
    """(..., len(visible)): H / ln m of the rows that see m keys, m >= 2; 1 is uniform attention, 0
    a single key.
    """
    rows = a[..., visible - 1, :]
    greatest = visible.log()
    return entropy(rows) / greatest


def rollout(a: Tensor) -> Tensor:
    """(B, T): the last row of the product over layers of (A + I) / 2, A (layers, B, H, T, T)
    averaged over heads. arXiv 2005.00928.
    """
    _, B, _, T, _ = a.shape
    row = a.new_zeros(B, 1, T)
    row[..., -1] = 1
    over_heads = a.mean(2)
    for layer in over_heads.flip(0):
        row = (row @ layer + row) / 2
    return row[:, 0]


def ends(profile: Tensor) -> dict[str, Tensor]:
    """primacy, recency (...,): mean of the first and of the last tenth of the keys over the mean
    of the rest; u: mean of the two.
    """
    n = profile.shape[-1]
    tenth = max(1, round(n / 10))
    widths = [tenth, n - 2 * tenth, tenth]
    parts = profile.split(widths, -1)
    first, middle, last = (part.mean(-1) for part in parts)
    u = (first + last) / (2 * middle)
    return {"primacy": first / middle, "recency": last / middle, "u": u}


def share(norms: Tensor) -> Tensor:
    """(..., T) that sums to 1."""
    return norms / norms.sum(-1, keepdim=True)


def cumulated(norms: Tensor) -> Tensor:
    """(..., T): share of the norms within distance d of the last position, d = 0 .. T - 1. arXiv
    2212.10356.
    """
    nearest_first = share(norms).flip(-1)
    return nearest_first.cumsum(-1)


def reach(norms: Tensor, at_least: float) -> Tensor:
    """(...,): the least distance in tokens within which a share of the norms lies; at .99 the
    empirical receptive field; nan for norms that are no numbers.
    """
    shares = cumulated(norms)
    finite = shares.isfinite().all(-1)
    too_near = shares < at_least - 1e-9
    farthest = norms.shape[-1] - 1
    distance = too_near.sum(-1).clamp(max=farthest)
    return distance.double().where(finite, torch.nan)


def doublings(n: int) -> Tensor:
    """2, 4, 8, .. and n."""
    doubled = math.ceil(math.log2(n))
    below = [2**i for i in range(1, doubled)]
    return torch.tensor([*below, n])


def record_places(n: int, places: int) -> Tensor:
    """At most `places` positions of a context BOS k v k v ... k, both ends among them, and else
    whole records (an odd position, a key, and the next, its value), as evenly as they come.

    Evenly spread positions would hit keys in one stretch and values in another, whose influence
    differs; otherwise a step.
    """
    if n <= places or n < 4:
        return torch.arange(n)
    records = (n - 2) // 2
    wanted = max(1, (places - 2) // 2)
    chosen = min(records, wanted)
    evenly = torch.linspace(0, records - 1, chosen, dtype=torch.float64)
    keys = 1 + 2 * evenly.round().long()
    values = keys + 1
    outermost = torch.tensor([0, n - 1])
    return torch.cat([outermost, keys, values]).unique()


def probes(count: int, width: int, seed: int = 0) -> Tensor:
    """(min(count, width), width) random orthonormal rows."""
    rng = torch.Generator().manual_seed(seed)
    columns = min(count, width)
    drawn = torch.randn(width, columns, generator=rng, dtype=torch.float64)
    orthonormal = torch.linalg.qr(drawn).Q
    return orthonormal.T
