"""The layers on which an extension acts, if the layers of a stack differ.

The rule: a layer is local if its queries never see more than L keys (a window, a chunk). A local
layer meets no new distance, however long the text, and needs no extension: an extension acts on the
other layers. A method that changes frequencies acts on the other layers in which something turns.
If all layers are local, or none, it acts on all. AllLayers (all_layers.py) overrides the rule.
"""

from dataclasses import replace

import torch

from extrap.model.scheme import Scheme, Where, place

ROWS = 129
"""Queries of a probe of a mask."""


def global_layers(scheme: Scheme) -> set[int]:
    """Returns the layers that are not local; all layers if every one is."""
    layers = set(range(scheme.shape.layers))
    L = scheme.shape.length
    if not scheme.uses("sees"):
        return layers
    found = set[int]()
    for layer in layers:
        late = late_rows(scheme, layer, 4 * L)
        seen = late.visible.sum(-1)
        if int(seen.max()) > L:
            found.add(layer)
    return found or layers


def late_rows(scheme: Scheme, layer: int, n: int) -> Where:
    """Returns some queries at places L to n against all n keys in one layer."""
    shape = scheme.shape
    tokens = torch.zeros(1, n, dtype=torch.long)
    x = torch.zeros(1, 1, 1).expand(1, n, shape.dim)
    t = torch.arange(n, dtype=torch.float64)
    whole = place(scheme, t, tokens=tokens).at_layer(layer, x)
    rows = torch.linspace(shape.length, n - 1, ROWS).long().unique()
    q = whole.q[rows]
    i = whole.i[rows]
    return replace(whole, q=q, i=i, memo={})
