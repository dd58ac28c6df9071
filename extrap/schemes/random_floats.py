"""Random float sampling: real positions drawn from one range, in training and at test. A part to
stack under any scheme. arXiv 2602.14050.

t_1 <= .. <= t_T, the order statistics of T draws from Uniform(0, M)
The range is the same whatever T: a longer text lies denser in it, where randomised positions
(randomised.py) are whole numbers of a range that must hold the longest text. We read summaries of
the paper, and they differ on the test: one draws there as well, one has (2i - 1) M / (2 T).
"""

import torch
from torch import Tensor

from extrap.model.scheme import Scheme, Shape
from extrap.utils.bounds import Positive


class RandomFloats(Scheme):
    """Random real positions, drawn from one range in training and at test.

    Args:
        maximum: M; null stands for L (we could not read the paper's value)

    Coordinates are fractional, so that a stack cannot hold tables. Uses the number of given
    coordinates, not their values. Draws from torch's CPU generator; at test the draw is one for
    each T, so that a measurement repeats.

    Kind: modifier
    Past L: defined; distances as in training, closer together
    """

    def __init__(self, shape: Shape, maximum: Positive | None = None):
        super().__init__(shape)
        self.maximum = float(shape.length) if maximum is None else maximum

    def positions(self, t: Tensor) -> Tensor:
        n = len(t)
        generator = None if self.training else torch.Generator().manual_seed(n)
        draws = torch.rand(n, generator=generator, dtype=torch.float64)
        ordered = draws.sort().values
        return self.maximum * ordered
