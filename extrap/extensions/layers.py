"""Which layers an extension acts on where the layers of a stack differ.

The rule: a layer is local if no query of it ever sees more than L keys (a window, a chunk). There
no distance is new, however long the text, and nothing is to be mended: an extension acts on the
other layers, and local ones stay as they were trained. A method that changes frequencies acts on
those of them in which something turns. Where all layers are local, or none is, there is no
difference to keep. AllLayers (all_layers.py) is the way to say otherwise.
"""

from collections.abc import Callable
from dataclasses import replace

import torch

from extrap.model.scheme import Scheme, Where
from extrap.model.wrapper import Wrapper

PLACES = 65


def global_layers(scheme: Scheme) -> set[int]:
    """Layers that are not local; all of them if every layer is. Looked at are queries of places L
    to 4 L.
    """
    shape, sees = scheme.shape, scheme.sees if scheme.uses("sees") else None
    every = set(range(shape.layers))
    if sees is None:
        return every
    n = 4 * shape.length
    at = Where.whole(torch.arange(n, dtype=torch.float64), scheme.scale, sees=sees)
    rows = torch.linspace(shape.length, n - 1, PLACES).long().unique()
    some = replace(at, q=at.q[rows], i=at.i[rows])
    seen = {
        layer: int(replace(some, layer=layer, memo={}).visible.sum(-1).max()) for layer in every
    }
    return {layer for layer in every if seen[layer] > shape.length} or every


class InLayers(Wrapper):
    """part, the extended scheme, in some layers and `plain`, the scheme as it was, in the others.

    Both read the same parameters. Coordinates are those of `part`, which has to leave them alone.
    """

    def __init__(self, plain: Scheme, part: Scheme, layers: set[int]):
        super().__init__(plain.shape)
        self.plain, self.part, self.layers = plain, part, layers

    def mapped(self, change: Callable[[Scheme], Scheme]) -> Scheme:
        self.plain = self.plain.mapped(change)
        return super().mapped(change)

    def in_layer(self, layer: int | None) -> Scheme:
        return self.part if layer is None or layer in self.layers else self.plain

    def uses(self, *hooks: str, layer: int | None = None) -> bool:
        if layer is None:
            return self.part.uses(*hooks) or self.plain.uses(*hooks)
        return self.in_layer(layer).uses(*hooks, layer=layer)
