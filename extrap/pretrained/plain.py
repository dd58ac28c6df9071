"""A model of transformers whose positions no probe reaches: logits, and nothing else."""

import inspect
from typing import Any, NoReturn

from torch import Tensor, nn

from extrap.model.scheme import OutOfRange
from extrap.pretrained.adapter import table_rows
from extrap.utils.errors import NotApplicable, UserError


class Plain(nn.Module):
    """Tokens (B, T) -> logits (B, w, vocab) of the last w positions, as a GPT answers.

    net: the model of transformers; why: a probe did not reach its positions. Raises OutOfRange past
    the end of a table of positions.
    """

    def __init__(self, net: Any, length: int, why: UserError):
        super().__init__()
        self.net, self.length, self.why = net, length, why
        self.cuts = "logits_to_keep" in inspect.signature(net.forward).parameters

    def forward(self, tokens: Tensor, last: int | None = None) -> Tensor:
        rows = table_rows(self.net)  # a GPU asserts past them, and the process can go no further
        if rows is not None and tokens.shape[1] > rows:
            kind = self.net.config.model_type
            raise OutOfRange(f"{tokens.shape[1]} tokens lie past a table of {kind}")
        fewer = {"logits_to_keep": last} if self.cuts and last is not None else {}
        logits = self.net(input_ids=tokens, use_cache=False, **fewer).logits
        return logits if last is None else logits[:, -last:]

    @property
    def scheme(self) -> NoReturn:
        """Raises NotApplicable: whoever asks wants to act on positions."""
        problem = f"read for its logits alone ({self.why.problem})"
        raise NotApplicable("model_type", self.net.config.model_type, problem)
