"""Without positions attention does not see order: f(P x) = P f(x), until the causal mask, two
layers or a scheme break it.

Tokens are permuted before the model and its rows after it. Both must agree where attention is blind
to order. Under the causal mask alone the last row of one layer still knows no order: only the
multiset before it. From the second layer on it does.

Run: python results/audit/demos permutation
"""

from dataclasses import replace

import torch
from torch import Tensor

from extrap.audit.subject import SHAPE, gpt, words
from extrap.model.gpt import GPT
from extrap.model.scheme import Scheme
from extrap.schemes.rope import RoPE
from extrap.schemes.sinusoidal import Sinusoidal

TOKENS = 12


@torch.no_grad()
def rows(model: GPT, tokens: Tensor, layers: int, causal: bool) -> Tensor:
    """(T, C) after so many layers."""
    at = replace(model.where(tokens), causal=causal)
    x = model.embedding(tokens)
    for layer, block in enumerate(model.blocks[:layers]):
        x = block(x, model.scheme, at, layer)
    return x[0]


def error(scheme: Scheme, layers: int, causal: bool) -> tuple[float, float]:
    """max |f(P x) - P f(x)| over all rows, and of the last row where P leaves the last token in its
    place.
    """
    model = gpt(scheme).double()
    tokens = words(TOKENS)
    last = TOKENS - 1
    draws = torch.Generator().manual_seed(1)
    before_last = torch.randperm(last, generator=draws)
    order = torch.cat([before_last, torch.tensor([last])])
    of_permuted = rows(model, tokens[:, order], layers, causal)
    plain = rows(model, tokens, layers, causal)
    change = (of_permuted - plain[order]).abs()
    return float(change.max()), float(change[-1].max())


def data() -> dict[str, tuple[float, float]]:
    return {
        "no positions, no mask, 2 layers": error(Scheme(SHAPE), 2, False),
        "no positions, causal, 1 layer": error(Scheme(SHAPE), 1, True),
        "no positions, causal, 2 layers": error(Scheme(SHAPE), 2, True),
        "sinusoids, no mask, 1 layer": error(Sinusoidal(SHAPE), 1, False),
        "RoPE, no mask, 1 layer": error(RoPE(SHAPE), 1, False),
    }


def show() -> str:
    lines = [f"{'max |f(P x) - P f(x)|':34} {'all rows':>9} {'last row':>9}"]
    for what, (every, last) in data().items():
        lines.append(f"{what:34} {every:9.1e} {last:9.1e}")
    return "\n".join(lines)
