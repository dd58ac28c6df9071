"""What the first tokens of a text leave to later ones: in every layer keys and values that are not
rotated yet, and their normed inputs where a hook reads them. A scheme meets the whole text in its
hooks, as without a past.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

Layer = tuple[Tensor | None, Tensor, Tensor, Tensor | None]


class Past:
    """Inputs (B, t, C), keys and values (B, G, t, D) of t tokens by layer; empty at first. Inputs
    that no hook reads are None. A layer whose scheme owns attention also keeps queries
    (B, H, t, D): it may mix them with later ones.
    """

    def __init__(self, layers: dict[int, Layer] | None = None):
        self.layers = layers or {}

    @property
    def length(self) -> int:
        """t, after a forward through all layers."""
        if not self.layers:
            return 0
        first = next(iter(self.layers.values()))
        k = first[1]
        return k.shape[2]

    def joined(
        self, layer: int, x: Tensor | None, q: Tensor, k: Tensor, v: Tensor, owned: bool
    ) -> tuple[Tensor | None, Tensor, Tensor, Tensor]:
        """Adds the new tokens of a layer. Returns x, q, k, v of the whole text. Unless the scheme
        owns attention, queries of the first tokens are zeros: nobody reads their rows.
        """
        if (before := self.layers.get(layer)) is not None:
            old_x, old_k, old_v, old_q = before
            x = None if old_x is None or x is None else torch.cat([old_x, x], 1)
            k = torch.cat([old_k, k], 2)
            v = torch.cat([old_v, v], 2)
            if old_q is None:
                before_q = k.shape[2] - q.shape[2]
                q = F.pad(q, (0, 0, before_q, 0))
            else:
                q = torch.cat([old_q, q], 2)
        kept_q = q if owned else None
        self.layers[layer] = (x, k, v, kept_q)
        return x, q, k, v

    def first(self, tokens: int) -> "Past":
        """Returns the past of the first tokens alone."""
        if not tokens:
            return Past()
        kept: dict[int, Layer] = {}
        for n, (x, k, v, q) in self.layers.items():
            of_x = None if x is None else x[:, :tokens]
            of_k = k[:, :, :tokens]
            of_v = v[:, :, :tokens]
            of_q = None if q is None else q[:, :, :tokens]
            kept[n] = (of_x, of_k, of_v, of_q)
        return Past(kept)
