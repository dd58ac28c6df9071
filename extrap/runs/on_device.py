"""A model as tasks call it."""

from collections.abc import Callable
from functools import cached_property
from typing import cast

import torch
from torch import Tensor

from extrap.extensions.base import Reader
from extrap.model.gpt import GPT
from extrap.tasks.scoring.answers import finite


class OnDevice:
    """A model as tasks call it: it moves tokens to a device. lost: lengths of texts whose logits
    name no token.
    """

    def __init__(self, model: Reader, device: torch.device):
        def moving(call: Callable[..., Tensor]) -> Callable[..., Tensor]:
            return lambda tokens, *given, **more: call(tokens.to(device), *given, **more)

        self._logits, self.lost = moving(model), set[int]()
        if isinstance(model, GPT):
            self.losses, self.endings = moving(model.losses), moving(model.endings)
            self.further, self.continues = moving(model.further), model.continues
        self._model, self._device = model, device
        if hasattr(model, "greedy"):
            self.greedy = model.greedy
            if model.scores:
                self.losses = model.losses

    @cached_property
    def reference(self) -> "OnDevice":
        """The model that an engine should serve."""
        return OnDevice(cast(Reader, self._model.reference), self._device)

    def __call__(self, tokens: Tensor, last: int | None = None) -> Tensor:
        logits = self._logits(tokens, last=last)
        if not finite(logits).all():
            self.lost.add(tokens.shape[-1])
        return logits
