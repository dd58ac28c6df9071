"""A model that tasks look into: attention weights by the definition, gradients down to the input of
the first layer. A wrapper around the scheme, set for one forward, records them.
"""

from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

import torch
from torch import Tensor
from torch.nn import functional as F

from extrap.model.gpt import GPT
from extrap.model.parts import check_causal
from extrap.model.scheme import Scheme, Where, attention_weights
from extrap.model.wrapper import Wrapper

Seen = TypeVar("Seen", bound="Around")
"""The wrapper of a forward."""


class Around(Wrapper):
    """A wrapper that records. part: the scheme inside."""

    def __init__(self, part: Scheme):
        super().__init__(part.shape)
        self.part = part

    def uses(self, *hooks: str, layer: int | None = None) -> bool:
        own = (getattr(type(self), hook) is not getattr(Wrapper, hook) for hook in hooks)
        return any(own) or super().uses(*hooks, layer=layer)


class Defined(Around):
    """Attention by its definition, without kernels. `kept` holds the weights of every layer of the
    last forward: {layer: (B, H, T, T)}. With causal=False every query sees every key that the
    scheme does not mask.
    """

    def __init__(self, part: Scheme, causal: bool = True):
        super().__init__(part)
        if not causal:
            check_causal(part)
        self.causal = causal
        self.kept: dict[int, Tensor] = {}

    def attend(self, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
        at = at if self.causal else replace(at, causal=False)
        self.kept[at.layer] = attention_weights(self.part, q, k, at)
        return self.part.mix(self.kept[at.layer].to(v.dtype), v, at)


class Rooted(Around):
    """`root` is the input x (B, T, C) of the first layer, with positions added to tokens; gradients
    end there.
    """

    root: Tensor

    def embed(self, x: Tensor, at: Where) -> Tensor:
        x = self.part.embed(x, at)
        if at.layer == 0:
            x = self.root = x.detach().requires_grad_()
        return x


class Turned(Around):
    """`kept` holds the mean rotated query and key of every layer over the tokens of the last
    forward: {layer: (B, H, D) each}. A layer that owns its attention has none.
    """

    def __init__(self, part: Scheme):
        super().__init__(part)
        self.kept: dict[int, tuple[Tensor, Tensor]] = {}

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        q, k = self.part.rotate(q, k, at)
        if not self.part.uses("attend", layer=at.layer):
            self.kept[at.layer] = q.mean(-2), k.mean(-2)
        return q, k


class Unturned(Around):
    """`kept` holds the queries and keys of every layer of the last forward as they are before
    pairs of channels turn: {layer: (B, H, T, D) each}, all that is not a turn applied, keys
    repeated for the heads that share them. A layer that owns its attention has none.
    """

    def __init__(self, part: Scheme):
        super().__init__(part)
        self.kept: dict[int, tuple[Tensor, Tensor]] = {}

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        if not self.part.uses("attend", layer=at.layer):
            still = at.moved(torch.zeros_like(at.q), torch.zeros_like(at.k), self)
            of_q, of_k = self.part.rotate(q, k, still)
            self.kept[at.layer] = of_q, of_k.repeat_interleave(q.shape[1] // k.shape[1], 1)
        return self.part.rotate(q, k, at)


class Silenced(Around):
    """Heads whose output is 0: `heads` are pairs of layer and head."""

    def __init__(self, part: Scheme, heads: Collection[tuple[int, int]]):
        super().__init__(part)
        self.heads = heads

    def gate(self, o: Tensor, at: Where) -> Tensor:
        kept = [(at.layer, head) not in self.heads for head in range(o.shape[1])]
        return self.part.gate(o, at) * torch.tensor(kept, device=o.device)[:, None, None]


class Jumped(Around):
    """Coordinates with a gap: those of tokens from `after` on are larger by `jump`, before the
    scheme moves them.
    """

    def __init__(self, part: Scheme, after: int, jump: float):
        super().__init__(part)
        self.after = after
        self.jump = jump

    def positions(self, t: Tensor) -> Tensor:
        behind = torch.arange(len(t), device=t.device) >= self.after
        return self.part.positions(t + self.jump * behind)


class Hidden(Around):
    """A token that no other sees, at place `slot`, in every layer whose attention has a mask."""

    def __init__(self, part: Scheme, slot: int):
        super().__init__(part)
        self.slot = slot

    def sees(self, at: Where) -> Tensor:
        seen = (at.j != self.slot) | (at.i[:, None] == self.slot)
        inner = self.part.sees(at)
        return seen if inner is None else seen & inner


class InspectedModel:
    """The model of a task of kind Diagnostic (extrap.tasks.base.Inside). plain: the model without
    an extension; fresh(layers): before training, with the extension, of its own depth or another.

    causal=False takes the causal mask off, for schemes of which no hook depends on the order of
    tokens.
    """

    def __init__(
        self, model: GPT, plain: GPT, fresh: Callable[[int | None], GPT], causal: bool = True
    ):
        self.model, self.plain, self.fresh, self.causal = model, plain, fresh, causal

    def untrained(self, layers: int | None = None, causal: bool = True) -> "InspectedModel":
        """Returns the model before training, on the same device. Raises UserError or ValueError if
        the scheme does not fit so many layers.
        """
        return InspectedModel(
            self.fresh(layers).eval().to(self._device), self.plain, self.fresh, causal
        )

    @property
    def scheme(self) -> Scheme:
        return self.model.scheme

    @property
    def trained_scheme(self) -> Scheme:
        return self.plain.scheme

    @property
    def width(self) -> int:
        """C."""
        return self.model.embedding.weight.shape[1]

    @property
    def orderless(self) -> bool:
        """True if attention is defined without the causal mask: rotations are its only hooks."""
        return not self.scheme.uses(
            "attend", "sees", "temperature", "score", "distance_bias", "bias", "normalise", "mix"
        )

    @property
    def _device(self) -> torch.device:
        return self.model.embedding.weight.device

    def __call__(self, tokens: Tensor, last: int | None = None) -> Tensor:
        """Returns logits (B, w, vocab) by the fast kernels."""
        with torch.no_grad():
            return self.model(tokens.to(self._device), last=last)

    def jumped(self, tokens: Tensor, after: int, jump: float, last: int) -> Tensor:
        """Returns logits (B, last, vocab) with coordinates + `jump` from token `after` on."""
        with torch.no_grad(), self._through(Jumped(self.scheme, after, jump)):
            return self.model(tokens.to(self._device), last=last)

    @property
    def maskable(self) -> bool:
        """True if a mask acts on some layer: on none that owns its attention."""
        layers = range(len(self.model.blocks))
        return any(not self.scheme.uses("attend", layer=layer) for layer in layers)

    def without(self, tokens: Tensor, slot: int, last: int) -> Tensor:
        """Returns logits (B, last, vocab) if no token but itself sees the one at `slot`."""
        with torch.no_grad(), self._through(Hidden(self.scheme, slot)):
            return self.model(tokens.to(self._device), last=last)

    def attention(self, tokens: Tensor) -> Tensor:
        """Returns the weights (layers, B, H, T, T) of tokens (B, T), the input of `mix`. For linear
        attention: |a| with rows that sum to 1.
        """
        with torch.no_grad(), self._through(Defined(self.scheme, self.causal)) as seen:
            self.model.hidden(tokens.to(self._device))
        return torch.stack(
            [
                F.normalize(a.abs(), p=1, dim=-1) if self.scheme.uses("attend", layer=layer) else a
                for layer, a in sorted(seen.kept.items())
            ]
        )

    def unturned(self, tokens: Tensor) -> dict[int, tuple[Tensor, Tensor]]:
        """Returns {layer: queries, keys}, (B, H, T, D) each, before pairs of channels turn."""
        with torch.no_grad(), self._through(Unturned(self.scheme)) as seen:
            self.model.hidden(tokens.to(self._device))
        return seen.kept

    def silenced(self, tokens: Tensor, heads: Collection[tuple[int, int]], last: int) -> Tensor:
        """Returns logits (B, last, vocab) if the output of these (layer, head) is 0."""
        with torch.no_grad(), self._through(Silenced(self.scheme, heads)):
            return self.model(tokens.to(self._device), last=last)

    def clusters(self, tokens: Tensor) -> dict[int, Tensor]:
        """Returns {layer: (B, H)}, the cosine of the mean rotated query and key of a head. arXiv
        2603.18017: heads keep the two apart, which makes room for a sink between them.
        """
        with torch.no_grad(), self._through(Turned(self.scheme)) as seen:
            self.model.hidden(tokens.to(self._device))
        out = {}
        for layer, (q, k) in seen.kept.items():
            shared = k.repeat_interleave(q.shape[1] // k.shape[1], 1)
            out[layer] = F.cosine_similarity(q.double(), shared.double(), dim=-1)
        return out

    def jacobian(self, tokens: Tensor, probes: Tensor) -> Tensor:
        """Returns |d h_last / d x_j| (B, T), Frobenius norms of the derivative of the last hidden
        state by the input of the first layer.

        probes (P, C), orthonormal rows u: |J|^2 = C/P sum_u |J^T u|^2, exact for P = C, unbiased
        over random probes for P < C.
        """
        x, hidden = self._rooted(tokens)
        projections = [(hidden[:, -1] @ u.to(hidden)).sum() for u in probes]
        squares = torch.stack(
            [torch.autograd.grad(y, x, retain_graph=True)[0].square().sum(-1) for y in projections]
        )
        return (squares.sum(0) * (self.width / len(probes))).sqrt()

    def gradient(self, tokens: Tensor, targets: Tensor) -> Tensor:
        """Returns |d y / d x_j| (B, T), y the logit of targets (B,) at the last position."""
        x, hidden = self._rooted(tokens)
        logits = self.model.logits(hidden[:, -1]).gather(1, targets.to(hidden.device)[:, None])
        return torch.autograd.grad(logits.sum(), x)[0].norm(dim=-1)

    def gradients(self, tokens: Tensor, targets: Tensor) -> Tensor:
        """Returns the mean loss of targets (B, T), nats per token, after a backward pass to all
        weights whose gradients it drops.
        """
        with torch.enable_grad():
            logits = self.model(tokens.to(self._device))
            nll = F.cross_entropy(logits.flatten(0, 1).float(), targets.to(self._device).flatten())
            torch.autograd.grad(
                nll, [p for p in self.model.parameters() if p.requires_grad], allow_unused=True
            )
        return nll.detach()

    def _rooted(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        scheme = self.scheme if self.causal else Defined(self.scheme, causal=False)
        with torch.enable_grad(), self._through(Rooted(scheme)) as seen:
            hidden = self.model.hidden(tokens.to(self._device))
        return seen.root, hidden

    @contextmanager
    def _through(self, scheme: Seen) -> Generator[Seen, None, None]:
        plain, self.model.scheme = self.model.scheme, scheme
        try:
            yield scheme
        finally:
            self.model.scheme = plain
