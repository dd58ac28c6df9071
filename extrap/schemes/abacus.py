"""Abacus embedding: every symbol of a run knows its place in the run. arXiv 2405.17399.

A symbol is one of the last `ids` tokens of the vocabulary; a run is a number or a string of
symbols, and any other token ends it. Place c = 1 is the first symbol of a run. Two numbers written
from the lowest digit on then share a row for digits of equal worth, however long the numbers are:

    x_i <- x_i + P[c_i - 1 + k] for symbols,  x_i else;    k ~ U{0 .. offset} in training, 0 at test

The authors add row 0 to every other token, a constant that embeddings of tokens can hold. Each
forward draws one k. It trains rows of places that no run of training reaches; without it those
rows stay random. Other parts of the stack (the paper: FIRE, RoPE or none) tell positions outside
runs, and tell one run from another.
"""

from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor, nn

from extrap.model.scheme import Scheme, Shape, Size, Where

Offset = Annotated[int, Interval(ge=0, le=2**22)]


class Abacus(Scheme):
    """Abacus embedding: a learned vector for the place of a symbol in its run.

    Args:
        ids: symbols, the last ids of the vocabulary (the whole vocabulary if it is smaller); a job
            refuses another number than data.vocabulary.values
        offset: largest k, a random shift of all places in training

    Parameters: (L + offset) x C from N(0, 0.7**2). Draws k from torch's CPU generator.

    Kind: modifier
    Past L: defined; places up to L + offset are trained, later ones share a row
    """

    def __init__(self, shape: Shape, ids: Size = 64, offset: Offset = 100):
        super().__init__(shape)
        self.symbols = ids
        self.first = max(0, shape.vocab - ids)
        self.offset = offset
        rows = torch.randn(shape.length + offset, shape.dim)
        self.table = nn.Parameter(0.7 * rows)

    def place(self, tokens: Tensor) -> Tensor:
        """Returns the place in the run, (B, T) whole, from 1; 0 for other tokens."""
        T = tokens.shape[1]
        i = torch.arange(T, device=tokens.device).expand_as(tokens)
        ends = torch.where(tokens < self.first, i, -1)
        last_end = ends.cummax(1).values
        return i - last_end

    def embed(self, x: Tensor, at: Where) -> Tensor:
        if at.layer:
            return x
        place = self.place(at.tokens)
        k = 0
        if self.training:
            k = int(torch.randint(self.offset + 1, ()))
        last = len(self.table) - 1
        row = (place - 1 + k).clamp(0, last)
        symbol = place[..., None] > 0
        added = torch.where(symbol, self.table[row], 0.0)
        return x + added.to(x.dtype)
