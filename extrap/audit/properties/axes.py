"""Coordinates that are no whole numbers, and more than one of them.

Half a token is measured: one key moves by half a token, and its logit must differ from those at
both whole distances. The number of axes is not measured: a hook is told one coordinate per token,
and only a part with an option `axes` makes several of it. What is shown is that option.
"""

import torch
from torch import Tensor

from extrap.audit.column import Column, yes
from extrap.audit.subject import SHAPE, Subject, draw, last_logits, moved, place, projected, words
from extrap.model.gpt import GPT
from extrap.model.parts import parts
from extrap.model.scheme import OutOfRange

TOKENS, BACK = 24, 5
DIFFERENT = 1e-9

COLUMNS = (
    Column(
        "real",
        "half",
        "a key half a token away has a logit of its own, other than at both whole distances",
        yes,
        bool,
    ),
    Column(
        "axes",
        "axes",
        "coordinates of a token: declared by an option of its parts, not measured",
        str,
    ),
)


def measure(subject: Subject) -> dict[str, object]:
    at = [logit(subject.drawn, by) for by in (0.0, 0.5, 1.0)]
    real = all(float((at[1] - other).abs().max()) > DIFFERENT for other in (at[0], at[2]))
    return {
        "real": real,
        "axes": max((getattr(part, "axes", 1) for part in parts(subject.fresh.scheme)), default=1),
    }


@torch.no_grad()
def logit(model: GPT, by: float) -> Tensor:
    """(layers, H): of the key BACK tokens before the last query, moved by `by` towards it."""
    at = place(model, words(TOKENS))
    t = at.q.clone()
    t[-1 - BACK] += by
    x, found = draw(1, TOKENS, SHAPE.dim), []
    try:
        at = moved(model.scheme, at, t)
    except OutOfRange:
        return torch.full((len(model.blocks), SHAPE.heads), torch.nan)
    for layer in range(len(model.blocks)):
        q, k, _, here = projected(model, layer, x, at)
        found.append(last_logits(model.scheme, q, k, here)[0, :, -1 - BACK])
    return torch.stack(found)
