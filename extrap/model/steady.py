"""Whether the first tokens of a text stay as they are when later ones follow."""

from collections.abc import Sequence
from typing import Any

import torch

from extrap.model.attention import attention
from extrap.model.where import Where

CLOSE = 1e-4
"""Difference of outputs, in standard deviations, that is rounding."""


@torch.no_grad()
def steady(model: Any, sizes: Sequence[tuple[int, int, int]], known: int, tokens: int) -> bool:
    """True if a scheme gives token `known` - 1 the same output in texts of `known` and of `tokens`
    tokens, in every layer, for drawn queries, keys and values, and the tokens before it the same
    places and masks: dynamic NTK does not, nor do parallel windows. So a past of the first text
    serves in the second one.

    model: a GPT, for its scheme and coordinates; sizes: heads of queries, heads of keys and
    channels of every layer.
    """
    weight = model.embedding.weight
    row = known - 1
    draws = torch.Generator().manual_seed(0)
    scheme = model.scheme
    C = scheme.shape.dim

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(1, *shape, generator=draws).to(weight)

    ids = torch.zeros(1, tokens, dtype=torch.long, device=weight.device)
    for layer, (H, G, D) in enumerate(sizes):
        x = drawn(tokens, C)
        q = drawn(H, tokens, D)
        k = drawn(G, tokens, D)
        v = drawn(G, tokens, D)
        found = []
        places = []
        for n in (known, tokens):
            text = x[:, :n]
            queries = q[:, :, :n]
            keys = k[:, :, :n]
            values = v[:, :, :n]
            here = model.where(ids[:, :n]).at_layer(layer, text)
            o = attention(scheme, queries, keys, values, here, row)
            embedded = scheme.embed(text, here)[:, row]
            attended = o[:, :, 0]
            outputs = torch.cat([attended.flatten(), embedded.flatten()])
            found.append(outputs.float())
            places.append(_places(here, known))
        if not all(map(torch.equal, *places)):
            return False
        short, long = found
        apart = (short - long).abs().max()
        if not apart <= CLOSE * short.std():
            return False
    return True


def _places(at: Where, known: int) -> list[torch.Tensor]:
    """Returns the coordinates of the first tokens, and what some of them see."""
    found = [at.q[:known]]
    for row in (known // 4, known // 2, 3 * known // 4):
        mask = at.block(row, row + 1).mask
        found.append(torch.ones(1) if mask is None else mask)
    return found
