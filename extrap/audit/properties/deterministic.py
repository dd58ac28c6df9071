"""Whether the same text gives the same logits again, bit by bit, at test and in training."""

import torch

from extrap.audit.column import Column
from extrap.audit.subject import SHAPE, Subject, words
from extrap.model.gpt import GPT

COLUMNS = (
    Column(
        "deterministic", "repeats", "the same text gives the same logits twice: always, at test "
        "only, or never", str, lambda value: value == "always"
    ),
)  # fmt: skip


@torch.no_grad()
def measure(subject: Subject) -> dict[str, str]:
    model = subject.drawn
    try:
        test, train = repeats(model.eval()), repeats(model.train())
    finally:
        model.eval()
    return {"deterministic": "never" if not test else "always" if train else "at test"}


def repeats(model: GPT) -> bool:
    tokens = words(SHAPE.length)
    with torch.random.fork_rng([]):  # positions of training are drawn from torch's own generator
        return torch.equal(model(tokens), model(tokens))
