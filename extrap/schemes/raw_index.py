"""The position itself, added to the token embedding: the naive baseline of every survey. No paper
of its own.

x_i <- x_i + step * i * u

broadcast    u = (1, .., 1). LayerNorm subtracts the mean over channels, so that this is NoPE;
             RMSNorm keeps the index, which soon drowns the token
channel      u = e_0; survives both norms and saturates after a few hundred positions
random-unit  u a fixed Gaussian direction of norm 1

bfloat16 loses the token past position 256.
"""

from typing import Literal
from warnings import warn

import torch
from torch import Tensor

from extrap.model.scheme import Scheme, Shape, Where


class RawIndex(Scheme):
    """The position itself, added to the token embedding in one direction.

    Args:
        direction: u above
        step: size of one position; not 0

    Parameters: none (checkpoints hold u). Warns about broadcast, naming the norm of the model.
    Raises ValueError for a step of 0.

    Kind: absolute
    Past L: defined; the index keeps growing and drowns the token
    Source: -
    """

    u: Tensor

    def __init__(
        self,
        shape: Shape,
        direction: Literal["broadcast", "channel", "random-unit"] = "broadcast",
        step: float = 1.0,
    ):
        super().__init__(shape)
        if step == 0:
            raise ValueError(f"step={step}: must not be 0, which adds nothing")
        if direction == "broadcast":
            warn(
                f"raw index with direction=broadcast under norm={shape.norm}: LayerNorm "
                "(norm=layer) erases a number added to every channel, so the model is NoPE; "
                "RMSNorm (norm=rms) keeps it. direction=channel and random-unit survive both",
                stacklevel=2,
            )
            u = torch.ones(shape.dim)
        elif direction == "channel":
            u = torch.eye(shape.dim)[0]
        else:
            u = torch.randn(shape.dim)
            u = u / u.norm()
        self.step = step
        self.register_buffer("u", u)

    def embed(self, x: Tensor, at: Where) -> Tensor:
        if at.layer:
            return x
        along = self.step * at.q[:, None]
        added = along * self.u.double()
        return x + added.to(x.dtype)
