"""The sizes that a scheme is built for."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval, MultipleOf

Size = Annotated[int, Interval(ge=1, le=2**22)]
"""Entries of a table of a scheme: a mistyped number must not fill the memory."""
Pairs = Annotated[int, Interval(ge=2, le=2**22), MultipleOf(2)]
"""Channels that come in pairs."""


@dataclass(frozen=True)
class Shape:
    """Width C, heads H, layers, training length L in tokens, vocabulary and norm of the GPT.

    kv_heads, head_width: heads of keys and values, and channels D of a head, where they are not H
    and C / H.
    """

    dim: int
    heads: int
    layers: int = 1
    length: int = 64
    vocab: int = 256
    norm: str = "rms"
    kv_heads: int | None = None
    head_width: int | None = None

    @property
    def head_dim(self) -> int:
        """D."""
        return self.head_width or self.dim // self.heads
