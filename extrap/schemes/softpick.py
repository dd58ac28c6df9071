"""Softpick, the rectified softmax: keys of negative logits get weight 0. arXiv 2504.20966.

a_ij = relu(e^{s_ij} - 1) / (sum_m |e^{s_im} - 1| + eps),   m over visible keys
Negative logits still count in the denominator: rows sum to at most 1 and may be all zero, so that
an idle head needs no sink. A shift of all logits changes the weights.
"""

from torch import Tensor

from extrap.model.scheme import Scheme, Where

EPS = 1e-6


class Softpick(Scheme):
    """Softpick: a rectified softmax, whose rows may sum to less than 1.

    Parameters: none.

    Kind: modifier
    Past L: defined; negative logits of more keys dilute the others
    """

    def normalise(self, s: Tensor, at: Where) -> Tensor:
        top = s.detach().amax(-1, keepdim=True).clamp(min=0)  # cancels in the ratio
        one = (-top).exp()
        e = (s - top).exp() - one
        e = e.masked_fill(~at.visible, 0)
        total = e.abs().sum(-1, keepdim=True)
        return e.relu() / (total + EPS * one)
