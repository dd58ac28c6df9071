"""Ms-PoE: every head has a factor of its own for interpolation, the largest for the head least
aware of positions. arXiv 2403.04797.

t -> t / r_h,   r_h = least + (most - least) rank_h / H,   rank 0 .. H - 1
aware_h = share of the keys to which the last query gives more than `times` the mean weight, without
positions; the head with the greatest share has rank 0

The method is for records in the middle of texts within L. Every text and layer has ranks of its
own, so that logits of a prefix change as it grows. The authors' code (github.com/VITA-Group/Ms-PoE)
uses the order of the heads in place of their ranks, counts keys above 3 means and leaves the first
two of 32 layers as they are; here it is the ranks, 4 means and every full-attention layer. The
ranks see the whole text: only the logits of the last token are sound, and extrap refuses tasks that
score earlier ones.
"""

from collections.abc import Callable
from functools import partial

from torch import Tensor

from extrap.extensions.base import SchemeExtension, replace_parts
from extrap.extensions.dynamic_ntk import ByRow
from extrap.model.parts import parts
from extrap.model.rotary import Rotary, phase, turn
from extrap.model.scheme import HOOKS, Scheme, Where
from extrap.utils.bounds import Factor, Positive

Ratios = Callable[[Tensor, Tensor, Where], Tensor]
"""(queries, keys before rotation, place) -> r (B, H)."""


class MsPoE(SchemeExtension):
    """Ms-PoE: position interpolation with a factor for each head, by the rank of the head.

    Args:
        least, most: the range of r, 1.2 to 1.8 in the paper
        times: a key counts above so many means, 3 in the authors' code

    Works with members of the RoPE family whose pairs turn by theta_p per token. Changes the model
    inside L. Raises ValueError unless least < most.
    """

    def __init__(self, least: Factor = 1.2, most: float = 1.8, times: Positive = 4.0):
        if least >= most:
            raise ValueError(f"least={least}, most={most}: least must be below most")
        self.least = least
        self.most = most
        self.times = times

    def extend(self, scheme: Scheme) -> Scheme:
        shape = scheme.shape
        if shape.kv_heads not in (None, shape.heads):
            raise ValueError("heads that share keys cannot be interpolated one by one")
        if shape.heads < 2:
            raise ValueError("one head cannot be interpolated otherwise than the others")
        if not any(plain_rotary(part) for part in parts(scheme)):
            raise ValueError("no queries and keys turn there by an angle per token")
        if any(isinstance(inner, ByRow) for inner in scheme.modules()):
            raise ValueError("heads are ranked once for a text, and it turns row by row")
        others = [part for part in parts(scheme) if not plain_rotary(part)]
        default = Scheme(shape).scale
        if any(p.uses("rotate", "temperature") or p.scale != default for p in others):
            raise ValueError(
                "heads are ranked by <q, k> alone, which is not what its logits are made of"
            )
        per_head = partial(PerHead, self.ratios)
        return replace_parts(scheme, plain_rotary, per_head)

    def ratios(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        H = q.shape[1]
        T = k.shape[2]
        logits = q[:, :, -1:] @ k.mT * at.scale
        last = logits.float().softmax(-1)  # (B, H, 1, T)
        counted = last > self.times / T
        aware = counted.double().mean((-1, -2))
        order = (-aware).argsort(dim=-1, stable=True)
        rank = order.argsort(dim=-1)
        return self.least + (self.most - self.least) * rank / H


def plain_rotary(part: Scheme) -> bool:
    """True if a single part turns pairs by t theta_p and does nothing else."""
    own = type(part)
    if not issubclass(own, Rotary):
        return False
    plain = own.rotate is Rotary.rotate and own.angle is Rotary.angle
    others = [hook for hook in HOOKS if hook != "rotate"]
    return plain and not part.uses(*others)


class PerHead(Scheme):
    """A rotary scheme with coordinates divided by a ratio for each text and head."""

    looks_ahead = True

    def __init__(self, ratios: Ratios, rotary: Rotary):
        super().__init__(rotary.shape)
        self.ratios = ratios
        self.rotary = rotary

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        rotary = self.rotary
        theta = rotary.theta(at)
        r = self.ratios(q, k, at)[..., None, None]
        angle_of_q = rotary.angle(at.q, theta) / r
        angle_of_k = rotary.angle(at.k, theta) / r
        of_q = phase(angle_of_q, q.dtype)
        of_k = phase(angle_of_k, q.dtype)
        return turn(q, of_q, rotary.layout), turn(k, of_k, rotary.layout)
