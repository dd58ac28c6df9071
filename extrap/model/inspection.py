"""Inspected model: attention weights by the definition, gradients down to what the first layer
reads.

It works by a wrapper around the scheme, set for one forward; the model itself knows nothing of it.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

import torch
from torch import Tensor
from torch.nn import functional as F

from extrap.model.gpt import GPT
from extrap.model.scheme import Scheme, Where, attention_weights, check_causal
from extrap.model.wrapper import Wrapper

Seen = TypeVar("Seen", bound="Around")
"""What is looked through, as it comes back."""


class Around(Wrapper):
    """part: the scheme inside, whose hooks all others are."""

    def __init__(self, part: Scheme):
        super().__init__(part.shape)
        self.part = part


class Defined(Around):
    """Attention by its definition, whatever kernel is faster. `kept` holds a (B, H, T, T) of every
    layer of the last forward.

    A scheme that owns attention has no weights to ask for; being linear in the values, it shows
    them where the values are the rows of an identity. causal=False lets every query see every key
    that the scheme does not mask.
    """

    def __init__(self, part: Scheme, causal: bool = True):
        super().__init__(part)
        if not causal:
            check_causal(part)
        self.causal = causal
        self.kept: list[Tensor] = []

    def uses(self, *hooks: str, layer: int | None = None) -> bool:
        return "attend" in hooks or self.part.uses(*hooks, layer=layer)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
        at = at if self.causal else replace(at, causal=False)
        self.kept.append(attention_weights(self.part, q, k, at))
        return self.part.mix(self.kept[-1].to(v.dtype), v, at)


class Rooted(Around):
    """`root` is x (B, T, C) as the first layer reads it, positions that are added to tokens
    included; gradients end there.
    """

    root: Tensor

    def embed(self, x: Tensor, at: Where) -> Tensor:
        x = self.part.embed(x, at)
        if at.layer == 0:
            x = self.root = x.detach().requires_grad_()
        return x


class Turned(Around):
    """`kept` holds the mean query and the mean key of every layer, turned, over the tokens of the
    last forward: {layer: (B, H, D) each}. A layer that owns its attention has none.
    """

    def __init__(self, part: Scheme):
        super().__init__(part)
        self.kept: dict[int, tuple[Tensor, Tensor]] = {}

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        q, k = self.part.rotate(q, k, at)
        if not self.part.uses("attend", layer=at.layer):
            self.kept[at.layer] = q.mean(-2), k.mean(-2)
        return q, k

    def uses(self, *hooks: str, layer: int | None = None) -> bool:
        return "rotate" in hooks or self.part.uses(*hooks, layer=layer)


class Jumped(Around):
    """Coordinates with a gap: those of tokens from `after` on are larger by `jump`, before anything
    else is made of them.
    """

    def __init__(self, part: Scheme, after: int, jump: float):
        super().__init__(part)
        self.after = after
        self.jump = jump

    def uses(self, *hooks: str, layer: int | None = None) -> bool:
        return "positions" in hooks or self.part.uses(*hooks, layer=layer)

    def positions(self, t: Tensor) -> Tensor:
        behind = torch.arange(len(t), device=t.device) >= self.after
        return self.part.positions(t + self.jump * behind)


class Hidden(Around):
    """One token that no other sees: slot (its place in the order of tokens) is visible to itself
    alone, in every layer whose attention has a mask.
    """

    def __init__(self, part: Scheme, slot: int):
        super().__init__(part)
        self.slot = slot

    def uses(self, *hooks: str, layer: int | None = None) -> bool:
        return "sees" in hooks or self.part.uses(*hooks, layer=layer)

    def sees(self, at: Where) -> Tensor:
        seen = (at.j != self.slot) | (at.i[:, None] == self.slot)
        inner = self.part.sees(at)
        return seen if inner is None else seen & inner


class InspectedModel:
    """What a task of kind Diagnostic is handed (extrap.tasks.base.Inside). plain: the model without
    an extension; fresh(layers): before training, with the extension, of its own depth or another.

    causal=False takes the causal mask off, for demonstrations: only where no hook of the scheme
    depends on the order of tokens.
    """

    def __init__(
        self, model: GPT, plain: GPT, fresh: Callable[[int | None], GPT], causal: bool = True
    ):
        self.model, self.plain, self.fresh, self.causal = model, plain, fresh, causal

    def untrained(self, layers: int | None = None, causal: bool = True) -> "InspectedModel":
        """Weights as drawn, on the same device. Raises UserError or ValueError where the scheme
        does not fit so many layers.
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
        """Whether attention is defined without the causal mask: nothing in it but turns of queries
        and keys.
        """
        return not self.scheme.uses(
            "attend", "sees", "temperature", "score", "distance_bias", "bias", "normalise", "mix"
        )

    @property
    def _device(self) -> torch.device:
        return self.model.embedding.weight.device

    def __call__(self, tokens: Tensor, last: int | None = None) -> Tensor:
        """Logits (B, w, vocab) by the fast kernels."""
        with torch.no_grad():
            return self.model(tokens.to(self._device), last=last)

    def jumped(self, tokens: Tensor, after: int, jump: float, last: int) -> Tensor:
        """Logits (B, last, vocab) where coordinates from token `after` on are larger by `jump`."""
        with torch.no_grad(), self._through(Jumped(self.scheme, after, jump)):
            return self.model(tokens.to(self._device), last=last)

    @property
    def maskable(self) -> bool:
        """Whether some layer has attention that a mask acts on: none that owns it has."""
        layers = range(len(self.model.blocks))
        return any(not self.scheme.uses("attend", layer=layer) for layer in layers)

    def without(self, tokens: Tensor, slot: int, last: int) -> Tensor:
        """Logits (B, last, vocab) where no token but itself sees the one at `slot`."""
        with torch.no_grad(), self._through(Hidden(self.scheme, slot)):
            return self.model(tokens.to(self._device), last=last)

    def attention(self, tokens: Tensor) -> Tensor:
        """(layers, B, H, T, T) a of tokens (B, T), what `mix` is given. Linear attention: |a| with
        rows that sum to 1.
        """
        with torch.no_grad(), self._through(Defined(self.scheme, self.causal)) as seen:
            self.model.hidden(tokens.to(self._device))
        return torch.stack(
            [
                F.normalize(a.abs(), p=1, dim=-1) if self.scheme.uses("attend", layer=layer) else a
                for layer, a in enumerate(seen.kept)
            ]
        )

    def clusters(self, tokens: Tensor) -> dict[int, Tensor]:
        """{layer: (B, H)} cosine of the mean query and the mean key of a head, after their turns.
        arXiv 2603.18017: heads keep the two apart, so that a sink can be found between them.
        """
        with torch.no_grad(), self._through(Turned(self.scheme)) as seen:
            self.model.hidden(tokens.to(self._device))
        out = {}
        for layer, (q, k) in seen.kept.items():
            shared = k.repeat_interleave(q.shape[1] // k.shape[1], 1)
            out[layer] = F.cosine_similarity(q.double(), shared.double(), dim=-1)
        return out

    def jacobian(self, tokens: Tensor, probes: Tensor) -> Tensor:
        """(B, T) |d h_last / d x_j|, Frobenius, of the last hidden state by what the first layer
        reads.

        probes (P, C), orthonormal rows u: |J|^2 = C/P sum_u |J^T u|^2, exact for P = C and without
        bias over random probes below.
        """
        x, hidden = self._rooted(tokens)
        projections = [(hidden[:, -1] @ u.to(hidden)).sum() for u in probes]
        squares = torch.stack(
            [torch.autograd.grad(y, x, retain_graph=True)[0].square().sum(-1) for y in projections]
        )
        return (squares.sum(0) * (self.width / len(probes))).sqrt()

    def gradient(self, tokens: Tensor, targets: Tensor) -> Tensor:
        """(B, T) |d y / d x_j|, y the logit of targets (B,) at the last position."""
        x, hidden = self._rooted(tokens)
        logits = self.model.logits(hidden[:, -1]).gather(1, targets.to(hidden.device)[:, None])
        return torch.autograd.grad(logits.sum(), x)[0].norm(dim=-1)

    def gradients(self, tokens: Tensor, targets: Tensor) -> Tensor:
        """() the mean loss, nats per token, of targets (B, T); its gradients by all weights are
        made and let go.
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
