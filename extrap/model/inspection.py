"""A model that tasks look into: attention weights by the definition, gradients down to the input of
the first layer. For one forward, other functions take the place of some hooks of the scheme.
"""

from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional as F

from extrap.model.parts import check_causal
from extrap.model.scheme import OutOfRange, Scheme, Where, attention_weights
from extrap.model.spectrum import draws_positions
from extrap.model.wrapper import Wrapper
from extrap.utils.errors import UserError

if TYPE_CHECKING:
    from extrap.model.gpt import GPT

Changed = Callable[..., Any]
"""(scheme inside, *arguments of a hook) -> what the hook returns."""


class Around(Wrapper):
    """The scheme `part` with these functions in place of its hooks, by name."""

    def __init__(self, part: Scheme, **hooks: Changed):
        super().__init__(part.shape)
        self.part = part
        self.changed = set(hooks)
        for name, hook in hooks.items():
            setattr(self, name, partial(hook, part))

    def uses(self, *hooks: str, layer: int | None = None) -> bool:
        if self.changed & set(hooks):
            return True
        return super().uses(*hooks, layer=layer)


def defined(kept: dict[int, Tensor], causal: bool = True) -> Changed:
    """Returns a hook `attend` that computes attention by its definition, without kernels, and keeps
    the weights of every layer: {layer: (B, H, T, T)}. With causal=False every query sees every key
    that the scheme does not mask.
    """

    def attend(part: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
        if not causal:
            at = replace(at, causal=False)
        a = attention_weights(part, q, k, at)
        kept[at.layer] = a
        return part.mix(a.to(v.dtype), v, at)

    return attend


def hidden(slot: int) -> Changed:
    """Returns a hook `sees` under which no other token sees the one at place `slot`."""

    def sees(part: Scheme, at: Where) -> Tensor:
        other = at.j != slot
        own = at.i[:, None] == slot
        seen = other | own
        inner = part.sees(at)
        if inner is None:
            return seen
        return seen & inner

    return sees


class InspectedModel:
    """The model of a task of kind Diagnostic.

    Args:
        plain: the model without an extension
        fresh: called with a number of layers, the model before training, with the extension, of its
            own depth or another

    causal=False takes the causal mask off. Raises ValueError then for a scheme with a hook that
    depends on the order of tokens.
    """

    def __init__(
        self,
        model: "GPT",
        plain: "GPT",
        fresh: "Callable[[int | None], GPT]",
        causal: bool = True,
    ):
        self.model = model
        self.plain = plain
        self.fresh = fresh
        self.causal = causal
        if not causal:
            check_causal(model.scheme)

    def untrained(self, layers: int | None = None, causal: bool = True) -> "InspectedModel":
        """Returns the model before training. Raises UserError or ValueError without one: a few
        layers of a hybrid model have no attention, and a model without any has no scheme.
        """
        model = self.fresh(layers).eval().to(self._device)
        _ = model.scheme
        return InspectedModel(model, self.plain, self.fresh, causal)

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
    def maskable(self) -> bool:
        """True if a mask acts on some layer: on none that owns its attention."""
        for layer in range(len(self.model.blocks)):
            if not self.scheme.uses("attend", layer=layer):
                return True
        return False

    @property
    def _device(self) -> torch.device:
        return self.model.embedding.weight.device

    @torch.no_grad()
    def __call__(self, tokens: Tensor, last: int | None = None, **hooks: Changed) -> Tensor:
        """Returns logits (B, w, vocab) by the fast kernels, with these hooks changed."""
        with self.changed(**hooks):
            return self.model(tokens.to(self._device), last=last)

    def hidden(self, tokens: Tensor, **hooks: Changed) -> Tensor:
        """Returns the input of the head, (B, T, C), with these hooks changed."""
        with self.changed(**hooks):
            return self.model.hidden(tokens.to(self._device))

    @torch.no_grad()
    def jumped(self, tokens: Tensor, after: int, jump: int, last: int) -> Tensor:
        """Returns logits (B, last, vocab) of a text with `jump` more tokens in front of the one at
        `after`, which are left out: coordinates, masks and maps of distances count them. Raises
        OutOfRange if the scheme draws its positions whatever the coordinates, so that none jump,
        or if the model counts them by itself.
        """
        if jump and draws_positions(self.scheme):
            raise OutOfRange("coordinates that the scheme draws itself cannot jump")
        T = tokens.shape[1]
        behind = torch.arange(T) >= after
        self.model.left_out = jump * behind if jump else None
        try:
            return self.model(tokens.to(self._device), last=last)
        finally:
            self.model.left_out = None

    def without(self, tokens: Tensor, slot: int, last: int) -> Tensor:
        """Returns logits (B, last, vocab) with the token at `slot` hidden from all others."""
        return self(tokens, last, sees=hidden(slot))

    def silenced(self, tokens: Tensor, heads: Collection[tuple[int, int]], last: int) -> Tensor:
        """Returns logits (B, last, vocab) if the output of these (layer, head) is 0."""

        def gate(part: Scheme, o: Tensor, at: Where) -> Tensor:
            H = o.shape[1]
            kept = [(at.layer, head) not in heads for head in range(H)]
            mask = torch.tensor(kept, device=o.device)
            return part.gate(o, at) * mask[:, None, None]

        return self(tokens, last, gate=gate)

    @torch.no_grad()
    def attention(self, tokens: Tensor) -> Tensor:
        """Returns the weights (layers, B, H, T, T) of tokens (B, T), the input of `mix`. For linear
        attention: |a| with rows that sum to 1. Raises UserError if layers differ in H.
        """
        self._check_heads()
        kept: dict[int, Tensor] = {}
        self.hidden(tokens, attend=defined(kept, self.causal))
        weights = []
        for n in sorted(kept):
            a = kept.pop(n)
            if self.scheme.uses("attend", layer=n):
                a = F.normalize(a.abs(), p=1, dim=-1)
            weights.append(a)
        return torch.stack(weights)

    def _check_heads(self) -> None:
        layers: dict[int, list[str]] = {}
        for n, (heads, *_) in enumerate(self.model.sizes()):
            layers.setdefault(heads, []).append(str(n))
        if len(layers) > 1:
            each = [f"layers {', '.join(own)} have {heads}" for heads, own in layers.items()]
            problem = f"wants as many heads in every layer, and {', '.join(each)}"
            raise UserError("task", problem=problem, remedy="leave the task out")

    @torch.no_grad()
    def rotated(self, tokens: Tensor, turn: bool = True) -> dict[int, tuple[Tensor, Tensor]]:
        """Returns {layer: queries, keys}, (B, H, T, D) each, rotated as in a text of T tokens, with
        keys repeated for the heads that share them. A layer that owns its attention has none, nor
        has one in which a map of distances turns them for several zones.

        turn=False: pairs of channels do not turn, everything else is applied, in every zone alike.
        """
        kept: dict[int, tuple[Tensor, Tensor]] = {}

        def rotate(part: Scheme, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
            turned = part.rotate(q, k, at)
            if part.uses("attend", layer=at.layer):
                return turned
            if not turn:
                zero_q = torch.zeros_like(at.q)
                zero_k = torch.zeros_like(at.k)
                at = at.moved(zero_q, zero_k, rotate)
            near = replace(at, near=True)
            of_q, of_k = part.rotate(q, k, near)
            one_zone = of_q.shape == turned[0].shape
            if one_zone or not turn:
                shared_by = q.shape[1] // k.shape[1]
                of_k = of_k.repeat_interleave(shared_by, 1)
                kept[at.layer] = of_q, of_k
            return turned

        self.hidden(tokens, rotate=rotate)
        return kept

    @torch.no_grad()
    def projected(self, tokens: Tensor) -> dict[int, tuple[Tensor, Tensor, Tensor, Where]]:
        """Returns {layer: queries, keys, values, context}, (B, H, T, D) each, before rotation, with
        keys and values repeated for the heads that share them.
        """
        kept: dict[int, tuple[Tensor, Tensor, Tensor, Where]] = {}

        def attend(part: Scheme, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
            kept[at.layer] = q, k, v, at
            return part.attend(q, k, v, at)

        self.hidden(tokens, attend=attend)
        return kept

    @torch.no_grad()
    def towards(self, targets: Tensor, layer: int) -> Tensor:
        """Returns W_O^T u (B, H, D): what a unit of each channel of a head's output adds to the
        logit of targets (B,) on the direct path, without the norm in front of the head.
        """
        dtype = self.model.embedding.weight.dtype
        unit = torch.eye(self.width, dtype=dtype, device=self._device)
        logits = self.model.logits(unit)
        of_target = logits[:, targets].T
        out = self.model.get_parameter(f"blocks.{layer}.out.weight")
        added = of_target @ out
        return added.unflatten(-1, (-1, self.scheme.shape.head_dim))

    def clusters(self, tokens: Tensor) -> dict[int, Tensor]:
        """Returns {layer: (B, H)}, the cosine of the mean rotated query and key of a head. arXiv
        2603.18017: heads keep the two apart, which makes room for a sink between them.
        """
        found = {}
        for n, (q, k) in self.rotated(tokens).items():
            of_q = q.mean(-2).double()
            of_k = k.mean(-2).double()
            found[n] = F.cosine_similarity(of_q, of_k, dim=-1)
        return found

    def jacobian(self, tokens: Tensor, probes: Tensor) -> Tensor:
        """Returns |d h_last / d x_j| (B, T), Frobenius norms of the derivative of the last hidden
        state by the input of the first layer.

        probes (P, C), orthonormal rows u: |J|^2 = C/P sum_u |J^T u|^2, exact for P = C, unbiased
        over random probes for P < C.
        """
        x, hidden = self._rooted(tokens)
        squares = []
        for u in probes:
            along = hidden[:, -1] @ u.to(hidden)
            projection = along.sum()
            (slope,) = torch.autograd.grad(projection, x, retain_graph=True)
            squares.append(slope.square().sum(-1))
        total = torch.stack(squares).sum(0)
        share = self.width / len(probes)
        return (total * share).sqrt()

    def gradient(self, tokens: Tensor, targets: Tensor) -> Tensor:
        """Returns |d y / d x_j| (B, T), y the logit of targets (B,) at the last position."""
        x, hidden = self._rooted(tokens)
        logits = self.model.logits(hidden[:, -1])
        wanted = targets.to(hidden.device)
        chosen = logits.gather(1, wanted[:, None])
        (slope,) = torch.autograd.grad(chosen.sum(), x)
        return slope.norm(dim=-1)

    def gradients(self, tokens: Tensor, targets: Tensor) -> Tensor:
        """Returns the mean loss of targets (B, T) in nats, after a backward pass to all weights.
        Raises UserError for weights that carry no gradients.
        """
        self._check_weights()
        with torch.enable_grad():
            logits = self.model(tokens.to(self._device))
            logits = logits.flatten(0, 1).float()
            wanted = targets.to(self._device).flatten()
            nll = F.cross_entropy(logits, wanted)
            weights = [p for p in self.model.parameters() if p.requires_grad]
            torch.autograd.grad(nll, weights, allow_unused=True)
        return nll.detach()

    @torch.enable_grad()
    def _rooted(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the inputs of layer 0, where gradients end, and of the head: (B, T, C) each.
        Raises UserError for weights that carry no gradients.
        """
        self._check_weights()
        roots: list[Tensor] = []

        def embed(part: Scheme, x: Tensor, at: Where) -> Tensor:
            x = part.embed(x, at)
            if at.layer == 0:
                x = x.detach().requires_grad_()
                roots.append(x)
            return x

        hooks: dict[str, Changed] = {"embed": embed}
        if not self.causal:
            hooks["attend"] = defined({}, causal=False)
        hidden = self.hidden(tokens, **hooks)
        return roots[-1], hidden

    def _check_weights(self) -> None:
        if any(p.is_inference() for p in self.model.parameters()):
            problem = "its weights were made under torch.inference_mode() and carry no gradients"
            raise UserError("model", problem=problem, remedy="make it under torch.no_grad()")

    @contextmanager
    def changed(self, **hooks: Changed) -> Generator[None, None, None]:
        """The scheme has these hooks changed within."""
        plain = self.model.scheme
        if hooks:
            self.model.scheme = Around(plain, **hooks)
        try:
            yield
        finally:
            self.model.scheme = plain
