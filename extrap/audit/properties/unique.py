"""Whether a query tells equal tokens at different places apart.

A text of one repeated token, read by its last query: the signature of place j is its logit in every
head and layer, its weight there if that is no softmax of logits, whether it is seen at all, and
what its value gives to the output at weight 1. Counted are the different signatures among the L
places.
"""

import torch
from torch import Tensor

from extrap.audit.column import Column
from extrap.audit.subject import (
    SHAPE,
    Subject,
    draw,
    finite,
    last_logits,
    last_read,
    place,
    projected,
)
from extrap.model.gpt import GPT

SAME = 1e-9
TEXTS = 4

COLUMNS = (
    Column(
        "unique",
        "places",
        "of the L = 64 places, those that the last query tells apart in a text of one "
        "repeated token",
        str,
        lambda value: value == SHAPE.length,
    ),
)


def measure(subject: Subject) -> dict[str, int]:
    return {"unique": distinct(signatures(subject.drawn, SHAPE.length))}


@torch.no_grad()
def signatures(model: GPT, T: int) -> Tensor:
    """(T, F): what the last query meets at each place."""
    scheme, at = model.scheme, place(model, torch.arange(TEXTS)[:, None].expand(TEXTS, T))
    x = draw(TEXTS, 1, SHAPE.dim).expand(TEXTS, T, SHAPE.dim)
    found = []
    for layer in range(len(model.blocks)):
        q, k, v, here = projected(model, layer, x, at)
        s = last_logits(scheme, q, k, here)
        found += [finite(s).flatten(0, 1), (s > -torch.inf).double().flatten(0, 1)]
        if scheme.uses("normalise", layer=layer):
            found.append(last_read(scheme, q, k, here).flatten(0, 1))
        if scheme.uses("mix"):
            found.append(given(model, v[:1], here).flatten(1).T)
    return torch.cat(found).T


def given(model: GPT, v: Tensor, here) -> Tensor:
    """(T, H, D): what the value at each place gives to the last query at weight 1."""
    T, H = v.shape[2], v.shape[1]
    one = torch.eye(T, dtype=v.dtype)[:, None, None].expand(T, H, 1, T)
    return model.scheme.mix(one, v.expand(T, -1, -1, -1), here.block(T - 1, T))[:, :, 0]


def distinct(signatures: Tensor) -> int:
    """Rows that equal none before them, up to rounding."""
    largest = signatures.abs().max()
    same = torch.cdist(signatures, signatures, p=torch.inf) <= SAME * max(float(largest), 1e-300)
    return int((~same.tril(-1).any(1)).sum())
