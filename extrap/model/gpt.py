"""A small pre-norm GPT. It owns one positional scheme and never asks which."""

from typing import Literal

import torch
from torch import Tensor, nn

from extrap.model.attention import attention
from extrap.model.card import card, parts
from extrap.model.scheme import OutOfRange, Scheme, Where


class SquaredReLU(nn.Module):
    """max(x, 0)**2, arXiv 2109.08668."""

    def forward(self, x: Tensor) -> Tensor:
        return x.relu().square()


NORMS = {"rms": nn.RMSNorm, "layer": nn.LayerNorm}
ACTIVATIONS = {"gelu": nn.GELU, "relu2": SquaredReLU}


class Block(nn.Module):
    """x + attention(norm(x)), then x + mlp(norm(x))."""

    def __init__(self, dim: int, heads: int, norm: str, mlp: str, ratio: float, dropout: float):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = NORMS[norm](dim), NORMS[norm](dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim, bias=False)
        hidden = int(ratio * dim)
        self.up, self.act, self.down = nn.Linear(dim, hidden, bias=False), ACTIVATIONS[mlp](), nn.Linear(hidden, dim, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, scheme: Scheme, at: Where, layer: int) -> Tensor:
        x = scheme.embed(x, at.at_layer(layer, x))
        normed = self.norm1(x)
        B, T, C = x.shape
        q, k, v = self.qkv(normed).view(B, T, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        o = attention(scheme, q, k, v, at.at_layer(layer, normed))
        x = x + self.dropout(self.out(o.transpose(1, 2).reshape(B, T, C)))
        return x + self.dropout(self.down(self.act(self.up(self.norm2(x)))))


class GPT(nn.Module):
    """Tokens (B, T) -> logits (B, T, vocab).

    Initialisation trains the retrieval circuit of small models: token embeddings N(0, 1), matrices N(0, 1 / fan-in), outputs
    into the residual stream further divided by sqrt(2 layers). Queries, keys and values alone have a bias: it is a direction
    that all tokens share, without which a rotary scheme learns late to look at the token before. A tied head reads the
    embedding divided by sqrt(C).
    Raises ValueError where heads do not divide dim.
    """

    def __init__(
        self,
        scheme: Scheme,
        vocab: int,
        dim: int = 64,
        layers: int = 2,
        heads: int = 4,
        norm: Literal["rms", "layer"] = "rms",
        mlp: Literal["gelu", "relu2"] = "gelu",
        ratio: float = 4.0,
        head: Literal["untied", "tied"] = "untied",
        dropout: float = 0.0,
    ):
        super().__init__()
        if dim % heads:
            raise ValueError(f"heads={heads} does not divide dim={dim}")
        self.embedding = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList(Block(dim, heads, norm, mlp, ratio, dropout) for _ in range(layers))
        self.norm = NORMS[norm](dim)
        self.head = nn.Linear(dim, vocab, bias=False) if head == "untied" else None
        self._initialise()
        self.scheme = scheme

    def _initialise(self) -> None:
        nn.init.normal_(self.embedding.weight)
        for name, p in self.named_parameters():
            if name.startswith(("blocks", "head")) and p.dim() == 2:
                std = p.shape[1] ** -0.5
                if name.endswith(("out.weight", "down.weight")):
                    std /= (2 * len(self.blocks)) ** 0.5
                nn.init.normal_(p, std=std)

    def where(self, tokens: Tensor) -> Where:
        """The place of a whole forward. Raises OutOfRange past the finite table of the scheme."""
        t = self.scheme.positions(torch.arange(tokens.shape[1], dtype=torch.float64))
        if t.numel() and float(t.max()) >= self.scheme.limit:
            part = min(parts(self.scheme), key=lambda p: p.limit)
            raise OutOfRange(
                f"position {t.max():g} lies past the {part.limit:g} positions that {type(part).__name__} defines ({card(part)['Past L']})"
            )
        sees = self.scheme.sees if self.scheme.uses("sees") else None
        at = Where.whole(t, self.scheme.scale, tokens=tokens, sees=sees)
        return at if tokens.device.type == "cpu" else at.to(tokens.device)

    def hidden(self, tokens: Tensor) -> Tensor:
        """(B, T) -> (B, T, C), normed: what the head reads."""
        at = self.where(tokens)
        x = self.embedding(tokens)
        for layer, block in enumerate(self.blocks):
            x = block(x, self.scheme, at, layer)
        return self.norm(x)

    def logits(self, hidden: Tensor) -> Tensor:
        """(..., C) -> (..., vocab)."""
        if self.head is None:
            return hidden @ self.embedding.weight.T * hidden.shape[-1] ** -0.5
        return self.head(hidden)

    def forward(self, tokens: Tensor, last: int | None = None) -> Tensor:
        """(B, T) -> (B, w, vocab): logits of the last w positions, of all by default. Only these go through the head."""
        h = self.hidden(tokens)
        return self.logits(h if last is None else h[:, h.shape[1] - last :])
