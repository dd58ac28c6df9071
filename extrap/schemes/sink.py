"""softmax_1 and its learned form: attention that may go nowhere.

A_j = e^{l_j} / (e^{s_h} + sum e^l). s = 0 is softmax_1,
https://www.evanmiller.org/attention-is-off-by-one.html; a learned s per layer and head is the sink
logit of gpt-oss; s = -inf is softmax. A shift of all logits changes the weights, so biases must be
0 at distance 0. Training needs it too: at test alone it shrinks every output.
"""

import torch
from torch import Tensor, nn

from extrap.model.scheme import Scheme, Shape, Where


class SoftmaxOne(Scheme):
    """Softmax with one more key of logit 0.

    Kind: modifier
    Past L: defined; the row sum tends to 1
    """

    def sink(self, at: Where) -> Tensor:
        return torch.zeros(self.shape.heads, device=at.q.device)


class SinkLogit(Scheme):
    """Softmax with one more key, whose logit is learned per layer and head, 0 at first.

    Parameters: layers x H.

    Kind: modifier
    Used by: gpt-oss, DeepSeek-V4, MiMo-V2-Flash (its windows), Granite SWA
    Past L: defined; the row sum tends to 1
    Source: https://arxiv.org/abs/2508.10925
    """

    def __init__(self, shape: Shape):
        super().__init__(shape)
        self.logit = nn.Parameter(torch.zeros(shape.layers, shape.heads))

    def sink(self, at: Where) -> Tensor:
        return self.logit[at.layer]
