"""Stick-breaking attention: the nearest key takes its share first, the next one a share of the
rest. arXiv 2410.17980.

a_ij = b_ij prod_{j < m < i} (1 - b_im),   b_ij = sigmoid(s_ij),   j < i
Recent keys come first without any positional encoding. Rows sum to at most 1, and the rest is lost;
the first token attends to no key. The authors' code gives the rest to a learned vector, and norms
the output of each head; this does neither.
"""

from typing import Literal

import torch.nn.functional as F
from torch import Tensor

from extrap.model.scheme import Scheme, Shape, Where


class StickBreaking(Scheme):
    """Stick-breaking attention: the nearest key takes its share first, the next one of the rest.

    Args:
        current: a query's own token is `excluded` from its keys as in the paper, or `included` as
            the nearest

    Kind: relative
    Past L: defined; far keys share what near ones leave
    """

    def __init__(self, shape: Shape, current: Literal["excluded", "included"] = "excluded"):
        super().__init__(shape)
        self.current = current

    def normalise(self, s: Tensor, at: Where) -> Tensor:
        if self.current == "excluded":
            s = s.masked_fill(at.back == 0, float("-inf"))
        left = -F.softplus(s)  # ln (1 - b), 0 where nothing is visible
        since = left.flip(-1).cumsum(-1).flip(-1)
        after_key = F.pad(since[..., 1:], (0, 1))
        log_a = F.logsigmoid(s) + after_key
        return log_a.exp()
