"""Muon for the matrices of the blocks and AdamW for all other parameters. arXiv 2502.16982.

Muon sets the singular values of a matrix's momentum to about one and steps along the result. The
factor .2 sqrt(max(A, B)) gives the step of an A x B matrix the root mean square of an AdamW step,
so that one learning rate and one weight decay serve both optimisers.
"""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import torch
from torch import nn

from extrap.runs.training.optim import Optim


def muon(matrices: Iterable[nn.Parameter], optim: Optim) -> torch.optim.Optimizer:
    """Returns the Muon of torch with rate and decay of the options, and a momentum of .95."""
    return torch.optim.Muon(
        matrices,
        lr=optim.lr,
        weight_decay=optim.weight_decay,
        adjust_lr_fn="match_rms_adamw",
    )


class Together(torch.optim.Optimizer):
    """Several optimisers of disjoint parameters that step as one, with one state."""

    def __init__(self, *parts: torch.optim.Optimizer):
        self.parts = parts
        groups = chain.from_iterable(part.param_groups for part in parts)
        super().__init__([*groups], {})
        self._share()

    def _share(self) -> None:
        """Hands every part its groups and the state of all."""
        rest = iter(self.param_groups)
        for part in self.parts:
            part.param_groups = [next(rest) for _ in part.param_groups]
            part.state = self.state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(state_dict)
        self._share()

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:  # type: ignore[override]
        """Returns the loss of `closure`, which computes the gradients first if it is given."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for part in self.parts:
            part.step()
        return loss
