"""Gated attention: a sigmoid of the layer's input scales the output of attention. arXiv 2505.06708.

o'_i = o_i * sigmoid(W x_i)    (x: normed input of the layer)
An idle head closes its gate; without one it would have to attend to an empty token. The paper finds
fewer sinks and smaller activations. The gate acts after attention: every kernel keeps its speed.
"""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from extrap.model.scheme import Scheme, Shape, Where


class OutputGate(Scheme):
    """Gated attention: a sigmoid of the layer's input scales the output of attention.

    Args:
        per: `channel`, a gate for every channel of every head, or `head`, one gate for each head

    Parameters: C H D per layer, or C H; W ~ N(0, 0.02**2): gates start half open.

    Kind: modifier
    Used by: Qwen3-Next
    Past L: defined
    """

    def __init__(self, shape: Shape, per: Literal["channel", "head"] = "channel"):
        super().__init__(shape)
        gates = shape.head_dim if per == "channel" else 1
        w = torch.randn(shape.layers, shape.heads, gates, shape.dim)
        self.w = nn.Parameter(0.02 * w)

    def gate(self, o: Tensor, at: Where) -> Tensor:
        w = self.w[at.layer]  # (H, gates, C)
        rows = o.shape[2]
        x = at.x[:, -rows:]  # of these query rows
        flat = w.flatten(0, 1).to(o.dtype)
        g = F.linear(x, flat)
        g = g.unflatten(-1, w.shape[:2])  # (B, Tq, H, gates)
        return o * g.transpose(1, 2).sigmoid()
