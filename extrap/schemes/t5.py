"""T5's relative bias: one learned number per head and bucket of distance, shared by all layers.
arXiv 1910.10683.

b_ij = E[bucket(i - j), h]; half of the buckets hold one distance each, the others grow
logarithmically up to max_distance, and all greater distances share the last. The original has no 1
/ sqrt(D); here the score keeps it, as in every scheme.
"""

import warnings

import torch
from torch import Tensor, nn

from extrap.model.functional import bucket
from extrap.model.scheme import Scheme, Shape, Size, whole_steps


class T5(Scheme):
    """A relative bias: one learned number for each head and bucket of distance.

    Args:
        buckets: number of buckets, even and at least 2
        max_distance: distance in tokens from which on all share the last bucket; above buckets / 2;
            null stands for L / 2, so that training reaches the last bucket; the original
            has 128

    Parameters: buckets x H, zero at first (transformers: N(0, 1/C)). Raises ValueError unless
    buckets is even and 2 <= buckets and buckets / 2 < max_distance; warns if training never reaches
    the last bucket.

    Kind: relative
    Used by: T5, mT5, UL2
    Past L: defined; the last bucket serves
    """

    def __init__(self, shape: Shape, buckets: Size = 32, max_distance: Size | None = None):
        super().__init__(shape)
        self.buckets = buckets
        self.max_distance = max(shape.length // 2, 2) if max_distance is None else max_distance
        if buckets < 2 or buckets % 2 or self.max_distance <= buckets // 2:
            raise ValueError(
                f"buckets={buckets}, max_distance={self.max_distance}: buckets is even, at least "
                "2, below 2 * max_distance"
            )
        farthest = torch.tensor(shape.length - 1)
        used = 1 + int(bucket(farthest, buckets, self.max_distance))
        if used < buckets:
            warnings.warn(
                f"max_distance={self.max_distance}: training length {shape.length} reaches "
                f"{used} of {buckets} buckets, the others stay 0 and serve all greater "
                f"lengths; max_distance <= {shape.length // 2} reaches every one",
                stacklevel=2,
            )
        self.table = nn.Parameter(torch.zeros(buckets, shape.heads))

    def distance_bias(self, d: Tensor, layer: int) -> Tensor:
        of_distance = bucket(whole_steps(d), self.buckets, self.max_distance)
        return self.table[of_distance].movedim(-1, 0)
