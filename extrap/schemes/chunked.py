"""Chunked attention and the temperature of the layers between: Llama 4's two kinds of layers.
transformers, models/llama4/modeling_llama4.py.

Chunks       visible iff floor(i / C) = floor(j / C): tokens of the same chunk, by their order
StepHeat     c_i = 1 + slope ln(1 + floor(n_i / F)), n_i visible keys of query i (i + 1 unmasked)
Local layers see their chunk alone, under RoPE. Every fourth layer sees the whole text without
positions, and its logits grow with the text.
"""

import torch
from torch import Tensor

from extrap.model.scheme import Scheme, Shape, Where
from extrap.utils.bounds import Fraction, NotNegative, Positive


class Chunks(Scheme):
    """Chunked attention: a query sees the tokens of its own chunk alone.

    Args:
        share: C = max(1, round(share L)); 8192 tokens of 256 k in Llama 4

    Kind: modifier
    Used by: Llama 4 (3 of 4 layers)
    Past L: defined; blind outside its chunk
    Source: transformers, models/llama4
    """

    def __init__(self, shape: Shape, share: Fraction = 0.25):
        super().__init__(shape)
        self.size = max(1, round(share * shape.length))

    def sees(self, at: Where) -> Tensor:
        chunk_of_query = at.i // self.size
        chunk_of_key = at.j // self.size
        return chunk_of_query[:, None] == chunk_of_key


class StepHeat(Scheme):
    """A temperature of the logits that grows with the chunk of the query.

    Args:
        slope: of the temperature over the logarithm; .1 in Llama 4
        share: F = max(1, round(share L)), the size of a chunk there

    Kind: modifier
    Used by: Llama 4 (its layers without positions)
    Past L: defined; logits grow with ln n
    Source: transformers, models/llama4
    """

    def __init__(self, shape: Shape, slope: NotNegative = 0.1, share: Positive = 0.25):
        super().__init__(shape)
        self.slope = slope
        self.step = max(1, round(share * shape.length))

    def temperature(self, at: Where) -> Tensor:
        steps = torch.div(at.count, self.step, rounding_mode="floor")
        rise = torch.log1p(steps.double())
        return 1 + self.slope * rise[:, None]
