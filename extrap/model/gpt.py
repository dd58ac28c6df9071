"""A pre-norm GPT. It owns one positional scheme and never asks which."""

import warnings
from math import inf

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from extrap.model.block import Block, again, norm_of
from extrap.model.decoder import Decoder
from extrap.model.fitting import Need, free_on, full
from extrap.model.functional import linear
from extrap.model.parts import card, has, parts
from extrap.model.past import Past
from extrap.model.scheme import OutOfRange, Scheme, Where, place, wide
from extrap.model.steady import reads_inputs, steady

LOGITS = 2**26
"""Logits that `losses` holds at once."""
KEPT = 2**28
"""Numbers of a past, all inputs counted, that are kept whatever memory is free: the bits of a small
model's rows depend on no machine.
"""
NO_ROOM = (
    "memory has no room for the keys and values of texts this long, so extrap reads each of them "
    "again for every depth and part of an answer; give smaller multiples or model.dtype=bf16"
)
"""The same words at every length: the command line shows them once."""
UNKNOWN = (
    "this system does not say how much memory is free, so extrap keeps no keys and values of texts "
    "this long and reads each of them again for every depth and part of an answer; give smaller "
    "multiples"
)
"""As NO_ROOM, where nobody knows the room."""


class GPT(nn.Module):
    """Tokens (B, T) -> logits (B, T, vocab).

    Initialisation trains the retrieval circuit of small models: token embeddings N(0, 1), matrices
    N(0, 1 / fan-in), outputs into the residual stream further divided by sqrt(2 layers). Queries,
    keys and values alone have a bias by default: a direction that all tokens share, without which a
    rotary scheme learns late to look at the token before.
    """

    left_out: Tensor | None = None
    """(T,) int64, tokens of the text in front of each that the next forwards leave out."""

    def __init__(self, scheme: Scheme, vocab: int, config: Decoder):
        super().__init__()
        self.config = config
        dim = config.dim
        self.embedding = nn.Embedding(vocab, dim)
        self.embedding_norm = None
        if config.embedding_norm is not None:
            self.embedding_norm = norm_of(config.embedding_norm, config, dim)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = norm_of(config.norm, config, dim)
        self.head = nn.Linear(dim, vocab, bias=False) if config.head == "untied" else None
        self.head_scale = dim**-0.5 if config.head == "tied" else None
        self.recomputed = False
        """True if the backward computes each layer again and the forward keeps no activations."""
        nn.init.normal_(self.embedding.weight)
        for name, p in self.named_parameters():
            matrix = p.dim() == 2
            if matrix and name.startswith(("blocks", "head")):
                std = p.shape[1] ** -0.5
                if name.endswith(("out.weight", "down.weight")):
                    std /= (2 * len(self.blocks)) ** 0.5
                nn.init.normal_(p, std=std)
        self.scheme = scheme

    def matrices(self) -> dict[str, nn.Module]:
        """Returns every matrix outside the scheme; the last word of a name is its role."""
        found = (
            ("embedding", self.embedding),
            *self.blocks.named_modules(prefix="blocks"),
            ("head", self.head),
        )
        return {name: m for name, m in found if isinstance(m, nn.Linear | nn.Embedding)}

    def where(self, tokens: Tensor) -> Where:
        """Returns the context of a whole forward. Raises OutOfRange past a finite table."""
        scheme = self.scheme
        left_out = self.left_out
        t = torch.arange(tokens.shape[1], dtype=torch.float64)
        if left_out is not None:
            t = t + left_out
        t = scheme.positions(t)
        moved = left_out is not None or scheme.uses("positions")
        if not len(t):
            farthest = -inf
        elif moved:
            farthest = float(t.max())
        else:  # known without reading values
            farthest = len(t) - 1
        if farthest >= scheme.limit:
            part = min(parts(scheme), key=lambda p: p.limit)
            raise OutOfRange(
                f"position {farthest:g} lies past the {part.limit:g} positions that "
                f"{type(part).__name__} defines ({card(part)['Past L']})"
            )
        even = {} if moved else {"spacing": 1.0}
        at = place(scheme, t, tokens=tokens, left_out=left_out, **even)
        if tokens.device.type == "cpu":
            return at
        return at.to(tokens.device)

    def embed(self, tokens: Tensor) -> Tensor:
        """Returns token embeddings without positions: (B, T) -> (B, T, C)."""
        x = self.embedding(tokens)
        if self.embedding_norm is None:
            return x
        return self.embedding_norm(x)

    def hidden(
        self,
        tokens: Tensor,
        states: list[Tensor] | None = None,
        last: int | None = None,
        past: Past | None = None,
    ) -> Tensor:
        """Returns the normed input of the head, (B, T) -> (B, T, C), or of the last w positions.
        Appends the residual stream after each layer to `states`. past: of the first t tokens, which
        the layers then leave out (w <= T - t); the call adds the others to it.
        """
        at = self.where(tokens)
        new = tokens if past is None else tokens[:, past.length :]
        x = self.embed(new)
        for layer, block in enumerate(self.blocks):
            end = layer == len(self.blocks) - 1
            given = x, self.scheme, at, layer, last if end else None, past
            if self.recomputed:
                x = again(block, *given)
            else:
                x = block(*given)
            if states is not None:
                states.append(x)
        return self.norm(x)

    def logits(self, hidden: Tensor) -> Tensor:
        """(..., C) -> (..., vocab)."""
        if self.head is not None:
            if type(self.head) is nn.Linear:  # no adapter around it
                return linear(hidden, self.head.weight)
            return self.head(hidden)
        logits = linear(hidden, self.embedding.weight)
        if self.head_scale is None:
            return logits
        return logits * self.head_scale

    def forward(self, tokens: Tensor, last: int | None = None) -> Tensor:
        """Returns logits of the last w positions, all by default: (B, T) -> (B, w, vocab). Only
        these positions go through the MLP of the last layer and the head.
        """
        hidden = self.hidden(tokens, last=last)
        return self.logits(hidden)

    def endings(self, texts: Tensor, last: int) -> Tensor:
        """Returns logits of the last w positions of texts that begin alike, (N, B, T) -> (N, B, w,
        vocab), equal to the logits of `forward` up to rounding. Reads the last text whole. Reads
        another text from its first difference on, and projects its keys and values again. Reads
        each text whole where memory has no room for more.
        """
        N, B, T = texts.shape
        if N > 1 and not has(self.scheme, "looks_ahead") and self.keeps(B * T):
            try:
                return self._endings(texts, last)
            except Exception as error:
                if B > 1 or not full(error):  # fewer texts at once may fit
                    raise
        return torch.stack([self(text, last=last) for text in texts])

    def _endings(self, texts: Tensor, last: int) -> Tensor:
        T = texts.shape[2]
        past = Past()
        whole = texts[-1]
        logits = [self.further(whole, last, past)]
        for text in texts[:-1].flip(0):
            equal = (text == whole).all(0)
            same = int(equal.cumprod(0).sum())
            known = past.first(min(same, T - last))
            logits.append(self.further(text, last, known))
        return torch.stack(logits[::-1])

    def keeps(self, tokens: int, held: int = 0) -> bool:
        """True if the past of so many tokens has up to KEPT numbers, or fits twice into the memory
        that a forward of them leaves free: reading another text on copies it. held: tokens whose
        past the caller holds already, in memory that is no longer free.
        """
        shape = self.scheme.shape
        G = shape.kv_heads or shape.heads
        of_token = shape.dim + 2 * G * shape.head_dim
        if len(self.blocks) * tokens * of_token <= KEPT:
            return True
        room = free_on(self.embedding.weight.device) - Need(self)(tokens, 0)
        more = max(tokens, 2 * tokens - held)
        if room < inf and more * self.of_past() <= room:
            return True
        warnings.warn(NO_ROOM if room < inf else UNKNOWN, UserWarning, stacklevel=2)
        return False

    def of_past(self) -> int:
        """Returns the bytes that a past holds of a token."""
        weight = self.embedding.weight
        numbers = 0
        for layer, size in enumerate(self.sizes()):
            H, G, D = size
            numbers += 2 * G * D
            if self.scheme.uses("attend", layer=layer):
                numbers += H * D
            if reads_inputs(self.scheme, layer, size, weight):
                numbers += self.scheme.shape.dim
        return numbers * weight.element_size()

    def continues(self, texts: int, known: int, tokens: int, held: int = 0) -> bool:
        """True if so many texts of `tokens` tokens may be read on from their `known` first ones:
        their past fits, and the later tokens change nothing of it. held: as in `keeps`.
        """
        if has(self.scheme, "looks_ahead") or not self.keeps(texts * tokens, held):
            return False
        return steady(self, self.sizes(), known, tokens)

    def sizes(self) -> list[tuple[int, int, int]]:
        """Returns heads of queries, heads of keys and channels of every layer."""
        shape = self.scheme.shape
        G = shape.kv_heads or shape.heads
        size = (shape.heads, G, shape.head_dim)
        return [size] * len(self.blocks)

    def further(self, texts: Tensor, last: int, past: Past) -> Tensor:
        """Returns logits of the last w positions, (B, T) -> (B, w, vocab), of texts whose first
        tokens `past` holds; it then holds all.
        """
        hidden = self.hidden(texts, last=last, past=past)
        return self.logits(hidden)

    def losses(self, tokens: Tensor, targets: Tensor) -> Tensor:
        """Returns losses of the targets at the last w positions: (B, T), (B, w) -> (B, w), in nats,
        in float32 at least. The head reads a block of positions at a time: memory holds LOGITS
        numbers in place of T x vocab.
        """
        hidden = self.hidden(tokens, last=targets.shape[1]).flatten(0, 1)
        rows = max(1, LOGITS // len(self.embedding.weight))
        wanted = targets.to(hidden.device).flatten()
        blocks = zip(hidden.split(rows), wanted.split(rows), strict=True)
        losses = []
        for h, x in blocks:
            losses.append(F.cross_entropy(wide(self.logits(h)), x, reduction="none"))
        return torch.cat(losses).view(targets.shape)
