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

    def check_full_width(self, who: str) -> None:
        """Raises ValueError unless the heads make up the width C."""
        if self.head_dim * self.heads != self.dim:
            raise ValueError(
                f"{who} splits the width among the heads; {self.heads} heads of model.head_dim="
                f"{self.head_dim} are not model.dim={self.dim}; give model.head_dim=null"
            )

    def check_own_keys(self, who: str) -> None:
        """Raises ValueError unless every head has keys of its own."""
        if self.kv_heads not in (None, self.heads):
            raise ValueError(
                f"{who} adds to the keys of every head; model.kv_heads={self.kv_heads} shares keys "
                f"among {self.heads} heads; give model.kv_heads=null"
            )
