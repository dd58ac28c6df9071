"""Entries by distance, laid out for pairs without an index: rows stand one after another, each one
place too long; read at the right width, each row begins one place later than the one before.

The skewing of Music Transformer, arXiv 1809.04281, section 3.4, with clipped distances. Forward and
backward are copies. If tokens do not follow one another, and on a GPU, it gathers entries.
"""

import torch
from torch import Tensor

from extrap.model.functional import gather, in_a_row
from extrap.model.where import Where


def by_distance(rows: Tensor, at: Where) -> Tensor:
    """Reads entry min(i - j, K - 1) of row i: (B, H, Tq, K) -> (B, H, Tq, Tk); any where j > i."""
    if not _ends_together(at):
        return gather(rows, at.back.clamp(0, rows.shape[-1] - 1))
    n, keys, size = len(at.i), len(at.j), rows.shape[-1]
    far = rows[..., -1:].expand(*rows.shape[:-1], max(0, keys - size))
    left_over = rows.new_zeros(*rows.shape[:-1], 1)
    wide = torch.cat([far, rows[..., :keys].flip(-1), left_over], -1)  # distances keys - 1 .. 0
    return wide.flatten(-2)[..., n - 1 : n - 1 + n * keys].unflatten(-1, (n, keys))


def by_step(rows: Tensor, at: Where) -> Tensor:
    """Reads by steps, whole distances of coordinates, in place of i - j."""
    if at.spacing != 1.0:
        return gather(rows, at.steps.clamp(max=rows.shape[-1] - 1))
    return by_distance(rows, at)


def _ends_together(at: Where) -> bool:
    """True if the queries are the last of the keys, one token after the other."""
    return (
        at.causal
        and in_a_row(at.i)
        and in_a_row(at.j)
        and int(at.i[-1]) == int(at.j[-1])
        and len(at.i) <= len(at.j)
    )
