"""Coordinates between whole numbers, and several coordinates per token.

One key moves by half a token: its logit must differ from those at both whole distances. The number
of axes is not measured, as a hook gets one coordinate per token: it is the option `axes` of a part.
"""

import torch
from torch import Tensor

from extrap.audit.column import Column
from extrap.audit.subject import SHAPE, Subject, draw, last_logits, layers, moved, place, words
from extrap.model.gpt import GPT
from extrap.model.parts import parts
from extrap.model.scheme import OutOfRange

TOKENS, BACK, DIFFERENT = 24, 5, 1e-9

COLUMNS = (
    Column(
        "real", "half", "a key half a token away has a logit of its own, other than at both whole "
        "distances", lambda value: "yes" if value else "no", bool
    ),
    Column(
        "axes", "axes", "coordinates of a token: declared by an option of its parts, not measured",
        str
    ),
)  # fmt: skip


def measure(subject: Subject) -> dict[str, object]:
    at = [logit(subject.drawn, by) for by in (0.0, 0.5, 1.0)]
    real = all(float((at[1] - other).abs().max()) > DIFFERENT for other in (at[0], at[2]))
    axes = max((getattr(part, "axes", 1) for part in parts(subject.fresh.scheme)), default=1)
    return {"real": real, "axes": axes}


@torch.no_grad()
def logit(model: GPT, by: float) -> Tensor:
    """(layers, H): of the key BACK tokens before the last query, moved by `by` towards it."""
    at = place(model, words(TOKENS))
    t = at.q.clone()
    t[-1 - BACK] += by
    try:
        at = moved(model.scheme, at, t)
    except OutOfRange:
        return torch.full((len(model.blocks), SHAPE.heads), torch.nan)
    each = layers(model, draw(1, TOKENS, SHAPE.dim), at)
    found = [last_logits(model.scheme, q, k, here) for q, k, _, here in each]
    return torch.stack(found)[:, 0, :, -1 - BACK]
