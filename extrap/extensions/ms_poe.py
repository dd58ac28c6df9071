"""Ms-PoE: every head has a factor of its own for interpolation, the largest for the head least
aware of positions. arXiv 2403.04797.

t -> t / r_h,   r_h = least + (most - least) rank_h / H,   rank 0 .. H - 1
aware_h = share of the keys to which the last query gives more than `times` the mean weight, without
positions; the head with the greatest share has rank 0

The method is for records in the middle of texts within L. Every text and layer has ranks of its
own, so that logits of a prefix change as it grows. The authors' code uses the order of the heads in
place of their ranks; here it is the ranks. The ranks see the whole text: only the logits of the
last token are sound, and extrap refuses tasks that score earlier ones.
"""

from collections.abc import Callable
from functools import partial

from torch import Tensor

from extrap.extensions.base import SchemeExtension, replace_parts
from extrap.extensions.dynamic_ntk import ByRow
from extrap.model.parts import parts
from extrap.model.rotary import Rotary, phase, turn
from extrap.model.scheme import Scheme, Where
from extrap.utils.bounds import Factor, Positive

Ratios = Callable[[Tensor, Tensor, Where], Tensor]
"""(queries, keys before rotation, place) -> r (B, H)."""


class MsPoE(SchemeExtension):
    """Ms-PoE: position interpolation with a factor for each head, by the rank of the head.

    Args:
        least, most: the range of r, 1.2 to 1.8 in the paper
        times: a key counts above so many means

    Works with members of the RoPE family whose pairs turn by theta_p per token. Changes the model
    inside L. Raises ValueError unless least < most.
    """

    def __init__(self, least: Factor = 1.2, most: float = 1.8, times: Positive = 4.0):
        if least >= most:
            raise ValueError(f"least={least}, most={most}: least must be below most")
        self.least, self.most, self.times = least, most, times

    def extend(self, scheme: Scheme) -> Scheme:
        if scheme.shape.kv_heads not in (None, scheme.shape.heads):
            raise ValueError("heads that share keys cannot be interpolated one by one")
        if scheme.shape.heads < 2:
            raise ValueError("one head cannot be interpolated otherwise than the others")
        if not any(plain_rotary(part) for part in parts(scheme)):
            raise ValueError("no queries and keys turn there by an angle per token")
        if any(isinstance(inner, ByRow) for inner in scheme.modules()):
            raise ValueError("heads are ranked once for a text, and it turns row by row")
        others = [part for part in parts(scheme) if not plain_rotary(part)]
        default = Scheme(scheme.shape).scale
        if any(p.uses("rotate", "temperature") or p.scale != default for p in others):
            raise ValueError(
                "heads are ranked by <q, k> alone, which is not what its logits are made of"
            )
        return replace_parts(scheme, plain_rotary, partial(PerHead, self.ratios))

    def ratios(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        logits = q[:, :, -1:] @ k.transpose(-1, -2) * at.scale
        last = logits.float().softmax(-1)  # (B, H, 1, T)
        aware = (last > self.times / last.shape[-1]).double().mean((-1, -2))
        rank = (-aware).argsort(dim=-1, stable=True).argsort(dim=-1)
        return self.least + (self.most - self.least) * rank / q.shape[1]


def plain_rotary(part: Scheme) -> bool:
    """True if a single part turns pairs by t theta_p and does nothing else."""
    own = type(part)
    turns = issubclass(own, Rotary) and own.rotate is Rotary.rotate and own.angle is Rotary.angle
    return turns and not part.uses("score", "mix")


class PerHead(Scheme):
    """A rotary scheme with coordinates divided by a ratio for each text and head."""

    looks_ahead = True

    def __init__(self, ratios: Ratios, rotary: Rotary):
        super().__init__(rotary.shape)
        self.ratios, self.rotary = ratios, rotary

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        theta = self.rotary.theta(at)
        r = self.ratios(q, k, at)[..., None, None]
        of_q = phase(self.rotary.angle(at.q, theta) / r, q.dtype)
        of_k = phase(self.rotary.angle(at.k, theta) / r, q.dtype)
        return turn(q, of_q, self.rotary.layout), turn(k, of_k, self.rotary.layout)
