"""One layer of a GPT: attention, then a two-layer MLP, each read from a norm of the residual stream
and added to it.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from extrap.model.attention import attention
from extrap.model.scheme import Scheme, Where


class SquaredReLU(nn.Module):
    """max(x, 0)**2, arXiv 2109.08668."""

    def forward(self, x: Tensor) -> Tensor:
        return x.relu().square()


GELUTanh = partial(nn.GELU, approximate="tanh")

ACTIVATIONS = {"gelu": nn.GELU, "gelu-tanh": GELUTanh, "relu": nn.ReLU, "relu2": SquaredReLU}
GATES = {"swiglu": nn.SiLU, "geglu": GELUTanh}
"""Activations of a factor on the hidden layer, arXiv 2002.05202."""


class Block(nn.Module):
    """x + attention(norm(x)), then x + mlp(norm(x)); both of the same x where they are parallel,
    normed again before they are added where there are post norms.
    """

    def __init__(
        self,
        dim: int,
        heads: int,
        kv_heads: int,
        head_dim: int,
        norm: Callable[[int], nn.Module],
        mlp: str,
        ratio: float,
        dropout: float,
        biased: tuple[str, ...],
        qk_norm: str | None,
        residual: str | None,
        post_norm: Callable[[int], nn.Module] | None,
    ):
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, head_dim
        self.parallel = residual == "parallel"
        self.norm1, self.norm2 = norm(dim), norm(dim)
        self.post1 = None if post_norm is None else post_norm(dim)
        self.post2 = None if post_norm is None else post_norm(dim)
        self.qkv = nn.Linear(dim, (heads + 2 * kv_heads) * head_dim, bias="qkv" in biased)
        self.out = nn.Linear(heads * head_dim, dim, bias="out" in biased)
        if qk_norm is not None:
            self.norm_q, self.norm_k = norm(head_dim), norm(head_dim)
        self.qk_norm = qk_norm
        hidden = int(ratio * dim + 1e-6)
        self.gate = None
        if mlp in GATES:
            self.gate = nn.Linear(dim, hidden, bias="gate" in biased)
        self.up = nn.Linear(dim, hidden, bias="up" in biased)
        self.act = (GATES | ACTIVATIONS)[mlp]()
        self.down = nn.Linear(hidden, dim, bias="down" in biased)
        self.dropout = nn.Dropout(dropout)

    def project(self, normed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(B, T, C) -> queries (B, H, T, D), keys and values (B, G, T, D), not yet rotated."""
        sizes = [n * self.head_dim for n in (self.heads, self.kv_heads, self.kv_heads)]
        q, k, v = (
            part.unflatten(-1, (-1, self.head_dim)).transpose(1, 2)
            for part in self.qkv(normed).split(sizes, -1)
        )
        if self.qk_norm is not None:
            q, k = self.norm_q(q), self.norm_k(k)
        return q, k, v

    def feed(self, x: Tensor) -> Tensor:
        """The MLP of norm(x), (B, T, C) -> (B, T, C)."""
        normed = self.norm2(x)
        if self.gate is None:
            fed = self.down(self.act(self.up(normed)))
        else:
            fed = self.down(self.act(self.gate(normed)) * self.up(normed))
        return fed if self.post2 is None else self.post2(fed)

    def forward(
        self, x: Tensor, scheme: Scheme, at: Where, layer: int, last: int | None = None
    ) -> Tensor:
        """(B, T, C) -> (B, T, C), or (B, last, C) where the last positions alone are read on."""
        x = scheme.embed(x, at.at_layer(layer, x))
        normed = self.norm1(x)
        q, k, v = self.project(normed)
        o = attention(scheme, q, k, v, at.at_layer(layer, normed))
        if last is not None:
            first = x.shape[1] - last
            x, o = x[:, first:], o[:, :, first:]
        o = self.out(o.transpose(1, 2).flatten(2))
        o = self.dropout(o if self.post1 is None else self.post1(o))
        if self.parallel:
            return x + o + self.dropout(self.feed(x))
        x = x + o
        return x + self.dropout(self.feed(x))


def again(block: nn.Module, x: Tensor, scheme: Scheme, at: Where, *more: Any) -> Tensor:
    """What a block returns, whose backward computes it once more, so that of every layer memory
    holds the input alone. What a forward remembers for all layers is remembered for each by itself,
    as the second time has to do what the first did.
    """

    def once(x: Tensor) -> Tensor:
        return block(x, scheme, replace(at, memo={}), *more)

    return checkpoint(once, x, use_reentrant=False)  # type: ignore[return-value]
