"""Whether a distance means the same at any text length: logits to the same last L/2 tokens as more
text comes before them, in texts of L/2, L, 2 L and 4 L tokens within the range of the scheme.

Weights that are no softmax of logits are compared up to a factor: a denominator over all keys
changes it, as under a softmax.
"""

import torch
from torch import Tensor

from extrap.audit.column import Column, below, error
from extrap.audit.subject import SHAPE, Subject, draw, finite, last_logits, layers, place, words
from extrap.model.gpt import GPT
from extrap.model.scheme import OutOfRange

SAME = 1e-6
NEAR = SHAPE.length // 2

COLUMNS = (
    Column(
        "same_at_any_length", "at any T", "change of logits to the same last L/2 tokens as text is "
        "put before them, in standard deviations", error, below(SAME)
    ),
)  # fmt: skip


def measure(subject: Subject) -> dict[str, float]:
    short, *longer = [s for n in (1, 2, 4, 8) if (s := recent(subject.drawn, n * NEAR)) is not None]
    return {"same_at_any_length": max(float((s - short).abs().max() / short.std()) for s in longer)}


@torch.no_grad()
def recent(model: GPT, T: int) -> Tensor | None:
    """(layers, H, L/2): logits of the last query of T tokens to the last L/2; None if undefined."""
    tokens, x = words(8 * NEAR)[:, -T:], draw(1, 8 * NEAR, SHAPE.dim)[:, -T:]
    try:
        at = place(model, tokens)
    except OutOfRange:
        return None
    found = []
    for q, k, _, here in layers(model, x, at):
        s = finite(last_logits(model.scheme, q, k, here, weighed=True))[0, :, -NEAR:]
        weights = model.scheme.uses("normalise", "attend", layer=here.layer)
        found.append(s / s.abs().sum(-1, keepdim=True).clamp(min=1e-300) if weights else s)
    return torch.stack(found)
