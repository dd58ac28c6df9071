"""Scores that are capped softly."""

from torch import Tensor

from extrap.model.scheme import Scheme, Shape, Where


class SoftCap(Scheme):
    """c tanh(s / c) of content logits s, before biases and the mask. Parameters: none.

    cap: c. Weights are laid out, by blocks of rows: no fused kernel caps.

    Kind: modifier
    Used by: Gemma 2
    Past L: defined
    Source: arXiv 2408.00118
    """

    def __init__(self, shape: Shape, cap: float):
        super().__init__(shape)
        if cap <= 0:
            raise ValueError(f"attn_logit_softcapping={cap}: above 0")
        self.cap = cap

    def score(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        return (super().score(q, k, at) / self.cap).tanh() * self.cap
