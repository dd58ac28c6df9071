"""Whether a query tells equal tokens at different places apart: the number of different signatures
among the L places of a text of one repeated token, for its last query.

The signature of a place: its logit in every head and layer (its weight if that is no softmax of
logits), whether it is visible, and the output that its value gives at weight 1.
"""

import torch
from torch import Tensor

from extrap.audit.column import Column
from extrap.audit.subject import SHAPE, Subject, finite, last_logits, layers, place, repeated
from extrap.model.gpt import GPT

SAME = 1e-9
TEXTS = 4

COLUMNS = (
    Column(
        "unique", "places", "of the L = 64 places, those that the last query tells apart in a text "
        "of one repeated token", str, lambda value: value == SHAPE.length
    ),
)  # fmt: skip


def measure(subject: Subject) -> dict[str, int]:
    return {"unique": distinct(signatures(subject.drawn, SHAPE.length))}


@torch.no_grad()
def signatures(model: GPT, T: int) -> Tensor:
    """(T, F): what the last query meets at each place."""
    tokens, x = repeated(TEXTS, T)
    scheme, found = model.scheme, []
    for q, k, v, here in layers(model, x, place(model, tokens)):
        s = last_logits(scheme, q, k, here)
        found += [finite(s).flatten(0, 1), (s > -torch.inf).double().flatten(0, 1)]
        if scheme.uses("normalise", layer=here.layer):
            found.append(last_logits(scheme, q, k, here, weighed=True).flatten(0, 1))
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
