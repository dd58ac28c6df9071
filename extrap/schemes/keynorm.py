"""KeyNorm and CosA: logits without the length of keys, or of queries and keys. arXiv 2010.04245,
https://kexue.fm/archives/9859.

KeyNorm  l_ij = <q_i, k_j / |k_j|>, no 1 / sqrt(D)
CosA     l_ij = lam cos(q_i, k_j)
They learn no gain, which would undo the effect. Rotation keeps norms, so that either stacks with
RoPE in any order; the source reports better extrapolation for that stack alone.
"""

from math import log

import torch.nn.functional as F
from torch import Tensor

from extrap.model.scheme import Scheme, Shape, Where, wide


class KeyNorm(Scheme):
    """Logits without the length of keys.

    Parameters: none.

    Kind: modifier
    Past L: defined
    Source: https://kexue.fm/archives/9859
    """

    @property
    def scale(self) -> float:
        return 1.0

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        return q, unit(k)


class CosA(Scheme):
    """Cosine attention: queries and keys of norm 1, and a fixed factor on their product.

    Args:
        lam: the factor; null stands for 4 ln(L / 2); 4 ln L with log-n is lam_i = 4 ln n_i

    Raises ValueError unless lam is positive.

    Kind: modifier
    Used by: Swin v2 (learned lam)
    Past L: defined
    """

    def __init__(self, shape: Shape, lam: float | None = None):
        super().__init__(shape)
        self.lam = 4 * log(shape.length / 2) if lam is None else lam
        if self.lam <= 0:
            raise ValueError(f"lam={lam}: must be positive, and L above 2 where it is null")

    @property
    def scale(self) -> float:
        return self.lam

    def rotate(self, q: Tensor, k: Tensor, at: Where) -> tuple[Tensor, Tensor]:
        return unit(q), unit(k)


def unit(x: Tensor) -> Tensor:
    """Returns x / |x| over the last axis, the norm in float32 at least; keeps a zero vector."""
    return F.normalize(wide(x), dim=-1).to(x.dtype)
