"""A model as tasks call it."""

from collections.abc import Callable
from functools import cached_property, partial
from typing import cast

import torch
from torch import Tensor

from extrap.extensions.base import Reader
from extrap.model.fitting import LESS, Fitting, Need, full
from extrap.model.gpt import GPT, LOGITS
from extrap.model.past import Past
from extrap.tasks.scoring.answers import finite


class OnDevice:
    """A model as tasks call it: it moves tokens to a device, as many texts at once as fit there.
    less: what to do where one does not. lost: lengths of texts whose logits name no token.
    """

    def __init__(self, model: Reader, device: torch.device, less: str = LESS):
        self._model, self._device, self._less = model, device, less
        self._fits, self._need, self.lost = Fitting(device, less), Need(model), set[int]()
        if isinstance(model, GPT):
            self.losses, self.endings = self._losses, self._endings
            self.further, self.continues = self._further, self._continues
        if hasattr(model, "greedy"):
            self.greedy, self.requests = model.greedy, model.requests
            if model.scores:
                self.losses = model.losses

    @cached_property
    def reference(self) -> "OnDevice":
        """The model that an engine should serve."""
        return OnDevice(cast(Reader, self._model.reference), self._device, self._less)

    def __call__(self, tokens: Tensor, last: int | None = None) -> Tensor:
        logits = self._read(partial(self._model, last=last), tokens, last=last)
        if not finite(logits).all():
            self.lost.add(tokens.shape[-1])
        return logits

    def _losses(self, tokens: Tensor, targets: Tensor) -> Tensor:
        logits = min(targets.shape[1], LOGITS // self._need.rows)
        return self._read(cast(GPT, self._model).losses, tokens, targets, last=logits)

    def _endings(self, texts: Tensor, last: int) -> Tensor:
        """As GPT.endings: texts (N, B, T)."""
        of_rows = partial(cast(GPT, self._model).endings, last=last)
        return self._read(of_rows, texts, last=last, dim=1)

    def _further(self, texts: Tensor, last: int, past: Past) -> Tensor:
        """As GPT.further. A past holds all texts, so a full memory leaves none of them read."""
        try:
            return cast(GPT, self._model).further(texts.to(self._device), last, past)
        except Exception as error:
            if full(error) and len(texts) > 1:
                self._fits.halve(len(texts), texts.shape[1], error)
            raise

    def _continues(self, texts: int, known: int, tokens: int, held: int = 0) -> bool:
        fits = texts <= self._fits.at_once(tokens)
        return fits and cast(GPT, self._model).continues(texts, known, tokens, held)

    def _read(
        self,
        call: Callable[..., Tensor],
        *given: Tensor,
        last: int | None,
        dim: int = 0,
    ) -> Tensor:
        """Returns call(*given), whose dimension `dim` counts texts, in as many parts as fit."""
        n, T = given[0].shape[dim], given[0].shape[-1]

        def rows(here: slice) -> Tensor:
            start, count = here.start, here.stop - here.start
            some = given if count == n else [x.narrow(dim, start, count) for x in given]
            found = call(some[0].to(self._device), *some[1:])
            return found if count == n else found.clone()  # a model may answer in one buffer

        parts = self._fits(rows, n, T, self._need(T, last or T))
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim)
