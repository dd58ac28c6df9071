"""The table of layers: where a model has positions, and which."""

from typing import Any

from extrap.model.gpt import GPT
from extrap.model.parts import parts
from extrap.model.scheme import Scheme
from extrap.model.spectrum import turns_pairs
from extrap.pretrained.adapter import Adapted
from extrap.schemes.chunked import Chunks
from extrap.schemes.nope import NoPE
from extrap.schemes.window import Nearest

STILL = "stays as it is: its attention is not reached"


def layer_table(model: GPT) -> list[dict[str, Any]]:
    """Returns a row a layer: whether it turns channels, how many pairs of how many channels, their
    base, window and chunk in tokens, sink, and all parts of its scheme by name.

    Layers of a transformers model whose attention does not come through the interface are rows too.
    """
    rows = [_row(model.scheme, n) for n in range(model.scheme.shape.layers)]
    if not isinstance(model, Adapted):
        return rows
    for row, layer in zip(rows, model.layers, strict=True):
        row["channels"] = layer.width
    found = {layer.block: row for layer, row in zip(model.layers, rows, strict=True)}
    still = dict.fromkeys(rows[0]) | {"parts": STILL}
    return [found.get(name, still) | {"layer": n} for n, name in enumerate(model.every)]


def _row(scheme: Scheme, n: int) -> dict[str, Any]:
    own = parts(scheme, n)
    turning = [part for part in own if turns_pairs(part)]
    length = scheme.shape.length
    return {
        "layer": n,
        "turns": bool(turning),
        "pairs": sum(len(part.spectrum(length)) for part in turning) or None,  # type: ignore[arg-type]
        "channels": scheme.shape.head_dim,
        "base": next((round(part.base, 6) for part in turning), None),  # type: ignore[call-overload]
        "window": next((part.width for part in own if isinstance(part, Nearest)), None),
        "chunk": next((part.size for part in own if isinstance(part, Chunks)), None),
        "sink": scheme.uses("sink", layer=n),
        "parts": " + ".join(type(p).__name__ for p in own if type(p) is not Scheme)
        or NoPE.__name__,
    }
