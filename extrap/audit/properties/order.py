"""Whether the order of earlier tokens is visible: the last row after one layer and after two, with
those tokens permuted. Under the causal mask alone, one layer sees a set; the second sees the order.
"""

import torch
from torch import Tensor

from extrap.audit.column import Column, error
from extrap.audit.subject import Subject, place, words
from extrap.model.gpt import GPT

TOKENS = 24
SEEN = 1e-9

COLUMNS = tuple(
    Column(
        f"order_{n}",
        f"order{n}",
        f"relative change of the last row after {words_} when the tokens before it are permuted",
        error,
        lambda value: value > SEEN,
    )
    for n, words_ in ((1, "one layer"), (2, "two layers"))
)


@torch.no_grad()
def measure(subject: Subject) -> dict[str, float]:
    tokens = words(TOKENS)
    permuted = tokens.clone()
    order = torch.randperm(TOKENS - 1, generator=torch.Generator().manual_seed(0))
    permuted[:, :-1] = tokens[:, order]
    rows = zip(last_rows(subject.drawn, tokens), last_rows(subject.drawn, permuted), strict=True)
    return {f"order_{n}": float((b - a).norm() / a.norm()) for n, (a, b) in enumerate(rows, 1)}


def last_rows(model: GPT, tokens: Tensor) -> list[Tensor]:
    """(C,) of the last token after each of the layers."""
    at, x, rows = place(model, tokens), model.embedding(tokens), []
    for layer, block in enumerate(model.blocks):
        x = block(x, model.scheme, at, layer)
        rows.append(x[0, -1])
    return rows
