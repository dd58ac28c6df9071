"""Whether the first tokens of a text stay as they are when later ones follow, and what of them a
past keeps.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from extrap.model.attention import attention
from extrap.model.past import Past
from extrap.model.scheme import Scheme, place
from extrap.model.where import Where

CLOSE = 1e-4
"""Difference of outputs, in standard deviations, that is rounding."""
Size = tuple[int, int, int]
"""Heads of queries, heads of keys and channels of a layer."""
READ: WeakKeyDictionary[Scheme, dict[tuple[int, Size], bool]] = WeakKeyDictionary()
"""By scheme, layer and size: what `reads_inputs` found."""


@torch.no_grad()
def steady(model: Any, sizes: Sequence[Size], known: int, tokens: int) -> bool:
    """True if a scheme gives token `known` - 1 the same output in texts of `known` and of `tokens`
    tokens, in every layer, for drawn queries, keys and values, and the tokens before it the same
    places and masks: dynamic NTK does not, nor do parallel windows. So a past of the first text
    serves in the second one.

    model: a GPT, for its scheme and coordinates; sizes: heads of queries, heads of keys and
    channels of every layer.
    """
    weight = model.embedding.weight
    row = known - 1
    draws = torch.Generator(weight.device).manual_seed(0)
    scheme = model.scheme
    C = scheme.shape.dim

    def drawn(*shape: int) -> Tensor:
        return torch.randn(1, *shape, generator=draws, device=weight.device).to(weight)

    @cache
    def numbers(H: int, G: int, D: int) -> tuple[Tensor, ...]:
        """Inputs, queries, keys and values, the same in all layers of a size."""
        shapes = (tokens, C), (H, tokens, D), (G, tokens, D), (G, tokens, D)
        return tuple(drawn(*shape) for shape in shapes)

    ids = torch.zeros(1, tokens, dtype=torch.long, device=weight.device)
    for layer, size in enumerate(sizes):
        x, q, k, v = numbers(*size)
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


def _places(at: Where, known: int) -> list[Tensor]:
    """Returns the coordinates of the first tokens, and what some of them see."""
    found = [at.q[:known]]
    for row in (known // 4, known // 2, 3 * known // 4):
        mask = at.block(row, row + 1).mask
        found.append(torch.ones(1) if mask is None else mask)
    return found


def joined(
    past: Past, scheme: Scheme, layer: int, x: Tensor, q: Tensor, k: Tensor, v: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Past.joined; x is None if no hook reads it."""
    size = q.shape[1], k.shape[1], q.shape[-1]
    kept = x if layer in past.layers or reads_inputs(scheme, layer, size, x) else None
    owned = scheme.uses("attend", layer=layer)
    return past.joined(layer, kept, q, k, v, owned)  # type: ignore[return-value]


class _Unread(Tensor):
    """Numbers that nobody may read."""

    @classmethod
    def __torch_function__(cls, *call: Any, **more: Any) -> Any:
        raise ValueError("read")


def reads_inputs(scheme: Scheme, layer: int, size: Size, like: Tensor) -> bool:
    """True if a hook reads the inputs of a layer, as two tokens show, once for each scheme.

    size: heads of queries, heads of keys and channels; like: numbers of the model
    """
    found = READ.setdefault(scheme, {})
    if (layer, size) not in found:
        found[layer, size] = _shown(scheme, layer, size, like)
    return found[layer, size]


@torch.no_grad()
def _shown(scheme: Scheme, layer: int, size: Size, like: Tensor) -> bool:
    H, G, D = size
    t = torch.arange(2, dtype=torch.float64)
    tokens = torch.zeros(1, 2, dtype=torch.long, device=like.device)
    x = like.new_zeros(1, 2, scheme.shape.dim).as_subclass(_Unread)
    at = place(scheme, t, tokens=tokens).to(like.device).at_layer(layer, x)
    q = like.new_zeros(1, H, 2, D)
    k = like.new_zeros(1, G, 2, D)
    try:
        attention(scheme, q, k, k, at)
    except Exception:  # of whatever class a plug-in makes of it
        return True
    return False
