"""The last query of a text in one layer, by the definition of attention: its logits and weights,
the weights if two keys change places, and what each head writes.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional as F

from extrap.model.scheme import Scheme, Where, attention_weights, logits

EPS = 1e-150
"""Length below which a vector of weights counts as 0."""
LINEAR = 1e-4
"""Rounding of a gate that is linear, as a share of its greatest output."""


@dataclass(frozen=True)
class LastQuery:
    """The last query of B texts of T tokens in one layer.

    Args:
        scheme: the scheme of the model
        q, k, v: (B, H, T, D) of all tokens, not rotated yet
        at: their context
    """

    scheme: Scheme
    q: Tensor
    k: Tensor
    v: Tensor
    at: Where

    @property
    def owned(self) -> bool:
        """True if one part owns the attention of the layer, which then has no logits."""
        return self.scheme.uses("attend", layer=self.at.layer)

    @cached_property
    def row(self) -> Where:
        """The context of the last query alone."""
        T = self.at.length
        return self.at.block(T - 1, T)

    def logits(self, k: Tensor | None = None) -> Tensor:
        """Returns (B, H, T): the logits of its own keys, or of others in their places; -inf where a
        mask hides one.
        """
        keys = self.k if k is None else k
        q, k = self.scheme.rotate(self.q, keys, self.at)
        last = q[..., -1:, :]
        s = logits(self.scheme, last, k, self.row)
        return s[..., 0, :]

    def weights(self, k: Tensor | None = None) -> Tensor:
        """Returns (B, H, T), of both signs where one part owns the attention."""
        if self.owned:
            keys = self.k if k is None else k
            of_all = attention_weights(self.scheme, self.q, keys, self.at)
            return of_all[..., -1, :]
        s = self.logits(k)[..., None, :]
        a = self.scheme.normalise(s, self.row)
        return a[..., 0, :]

    def shares(self) -> Tensor:
        """Returns the weights (B, H, T); their absolute values, made to sum to 1, where one part
        owns the attention.
        """
        a = self.weights()
        if self.owned:
            return F.normalize(a.abs(), p=1, dim=-1)
        return a

    def written(self, own: Tensor) -> tuple[Tensor, Tensor] | None:
        """Returns the outputs (B, H, D) of every head from the tokens of `own` (B, T), bool, and
        from all others. None if a gate is not linear, so that outputs do not add up.
        """
        a = self.weights()[..., None, :]
        mask = own.to(a.device)[:, None, None]
        constant = self._mixed(0 * a)
        mine = self._mixed(a.where(mask, 0)) - constant
        others = self._mixed(a.where(~mask, 0)) - constant
        outputs = [mine, others, mine + others]
        gated = [self.scheme.gate(o, self.row) for o in outputs]
        of_mine, of_others, of_both = (o[..., 0, :] for o in gated)
        off = (of_mine + of_others - of_both).abs().max()
        greatest = of_both.abs().max()
        if off > LINEAR * greatest:
            return None
        return of_mine, of_others

    def _mixed(self, a: Tensor) -> Tensor:
        """Returns the output (B, H, 1, D) of weights (B, H, 1, T), before the gate."""
        a = a.to(self.v.dtype)
        if self.owned:
            return a @ self.v
        return self.scheme.mix(a, self.v, self.row)

    def roles(self, swaps: int) -> tuple[Tensor, Tensor] | None:
        """Returns the positional and the symbolic score (B, H): means of `follows` over exchanges
        of the key that a head weighs most with others, at most `swaps` of them, spread evenly over
        the visible ones. None if fewer than two keys are visible.
        """
        seen = self.row.visible[0].nonzero()[:, 0]
        count = len(seen)
        others = min(swaps, count - 1)
        if others < 1:
            return None
        before = self.weights().double()
        first = before[..., seen].argmax(-1)
        i = seen[first]
        found = []
        for n in range(others):
            step = 1 + n * (count - 1) // others
            j = seen[(first + step) % count]
            keys = exchanged(self.k, i, j)
            after = self.weights(keys).double()
            cosines = follows(before, after, i, j)
            found.append(torch.stack(cosines))
        positional, symbolic = torch.stack(found).mean(0)
        return positional, symbolic


def exchanged(k: Tensor, i: Tensor, j: Tensor) -> Tensor:
    """Returns keys (B, H, T, D) with the keys of places i and j (B, H) exchanged."""
    B, H, T, D = k.shape
    order = torch.arange(T, device=k.device).repeat(B, H, 1)
    i = i[..., None]
    j = j[..., None]
    order.scatter_(2, i, j)
    order.scatter_(2, j, i)
    index = order[..., None].expand(-1, -1, -1, D)
    return k.gather(2, index)


def follows(before: Tensor, after: Tensor, i: Tensor, j: Tensor) -> tuple[Tensor, Tensor]:
    """Returns two cosines (B, H) of weights (B, H, T) before and after keys i and j (B, H) were
    exchanged: of (a'_i, a'_j) with (a_i, a_j), as the places had them, and with (a_j, a_i), as the
    keys had them. 0 if both weights are 0 afterwards.
    """
    places = torch.stack([i, j], -1)
    was = before.gather(2, places)
    now = after.gather(2, places)
    swapped = was.flip(-1)
    stayed = F.cosine_similarity(now, was, dim=-1, eps=EPS)
    moved = F.cosine_similarity(now, swapped, dim=-1, eps=EPS)
    return stayed, moved


def margin(s: Tensor, own: Tensor) -> Tensor:
    """Returns (B, H): the greatest logit of s (B, H, T) among tokens of `own` (B, T), bool, less
    the greatest one of all others; infinite if a mask hides all tokens of one side.
    """
    own = own.to(s.device)[:, None]
    mine = s.where(own, -torch.inf).amax(-1)
    others = s.where(~own, -torch.inf).amax(-1)
    return mine - others


def mass(a: Tensor, own: Tensor) -> Tensor:
    """Returns (B, H): the sum of the weights a (B, H, T) of the tokens of `own` (B, T), bool."""
    own = own.to(a.device)[:, None]
    return a.where(own, 0).sum(-1)


def contrast(mine: Tensor, others: Tensor, towards: Tensor, own: Tensor) -> Tensor:
    """Returns LOCOS (B, H) of outputs (B, H, D) from the tokens of `own` (B, T), bool, and from all
    others, by their components `towards` (B, H, D); the others count as much as so many tokens.
    """
    size = own.sum(-1, keepdim=True).to(mine)
    per_token = size / (own.shape[-1] - size)
    from_own = (mine * towards).sum(-1)
    from_others = (others * towards).sum(-1)
    return from_own - per_token * from_others
