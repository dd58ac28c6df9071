"""Softpick, the rectified softmax: keys of negative logits get nothing. arXiv 2504.20966.

a_ij = relu(e^{s_ij} - 1) / (sum_m |e^{s_im} - 1| + eps),   m over visible keys
Negative logits still count below the line, so rows sum to at most 1 and may be all zero: a head
that has nothing to say needs no sink. Weights are not invariant to a shift of the logits.
"""

from torch import Tensor

from extrap.model.scheme import Scheme, Where

EPS = 1e-6


class Softpick(Scheme):
    """Parameters: none.

    Kind: modifier
    Used by: -
    Past L: defined; negative logits of more keys dilute the others
    Source: arXiv 2504.20966
    """

    def normalise(self, s: Tensor, at: Where) -> Tensor:
        top = s.detach().amax(-1, keepdim=True).clamp(min=0)  # above and below the line cancel it
        e = ((s - top).exp() - (-top).exp()).masked_fill(~at.visible, 0)
        return e.relu() / (e.abs().sum(-1, keepdim=True) + EPS * (-top).exp())
