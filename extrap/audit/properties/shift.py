"""Whether attention depends on distances alone: every coordinate moves by a constant, in float32.

The error is the largest change of a logit or of an output of attention, in standard deviations of
either. A relative scheme has the error of rounding, at a million tokens as well. nan: undefined
there.
"""

import torch
from torch import Tensor

from extrap.audit.column import Column, below, error
from extrap.audit.subject import SHAPE, Subject, draw, finite, last_logits, layers, place, words
from extrap.model.gpt import GPT
from extrap.model.scheme import OutOfRange

SHIFTS = {"shift_3": 3, "shift_1e2": 10**2, "shift_1e4": 10**4, "shift_1e6": 10**6}
SAME = 1e-3
TOKENS = SHAPE.length - 4

COLUMNS = tuple(
    Column(
        name,
        f"+{shift:.0e}".replace("e+0", "e") if shift > 3 else f"+{shift}",
        f"change of logits and of attention outputs when all coordinates move by {shift:,}, in "
        "standard deviations, float32",
        error,
        below(SAME),
    )
    for name, shift in SHIFTS.items()
)


def measure(subject: Subject) -> dict[str, float]:
    model = subject.drawn.float()
    try:
        plain = answers(model, 0)
        return {name: change(plain, answers(model, shift)) for name, shift in SHIFTS.items()}
    finally:
        model.double()


def change(plain: list[Tensor], moved: list[Tensor] | None) -> float:
    if moved is None:
        return float("nan")
    changes = [(b - a).abs().max() / a.std() for a, b in zip(plain, moved, strict=True)]
    return max(float(change.nan_to_num(torch.inf)) for change in changes)


@torch.no_grad()
def answers(model: GPT, shift: float) -> list[Tensor] | None:
    """Logits of the last query and outputs of all, for each layer; None if undefined."""
    tokens, x = words(TOKENS), draw(1, TOKENS, SHAPE.dim).float()
    try:
        at = place(model, tokens, shift)
    except OutOfRange:
        return None
    found = []
    for q, k, v, here in layers(model, x, at):
        read = model.scheme.gate(model.scheme.attend(q, k, v, here), here)
        found += [finite(last_logits(model.scheme, q, k, here)), read]
    return found
