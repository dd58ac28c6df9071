"""A training: the steps of the stage `train`, from the first weights to the weights that a run
keeps. It begins with random weights; `FineTuned` (extrap/runs/finetuned.py) begins with the weights
of another run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast

from torch import Tensor

from extrap.data.mixture import Batches
from extrap.model.gpt import GPT
from extrap.runs.build import build
from extrap.runs.folder import Run
from extrap.runs.source import Fresh, Source
from extrap.runs.training.optim import Optim


@dataclass(frozen=True)
class Training:
    """The training of a model with random weights.

    source    the model, its text and its tokens
    parent    the training that gives the first weights
    verb      `train` or `tune`, for progress and messages
    """

    source: Source
    parent: "Training | None" = None

    verb: ClassVar[str] = "train"

    @cached_property
    def label(self) -> str:
        """The name of the series in rows and figures."""
        return self.source.label

    @cached_property
    def run(self) -> Run:
        """Name, identity and folder of the result."""
        return self.source.run

    @cached_property
    def optim(self) -> Optim:
        return self._optimiser({})

    def _optimiser(self, own: Mapping[str, Any]) -> Optim:
        target = {"_target_": f"{Optim.__module__}.{Optim.__name__}"}
        return build({**self.source.config["train"], **own, **target}, "train")

    @cached_property
    def batches(self) -> Batches:
        """The batch of every step."""
        source = cast(Fresh, self.source)
        return Batches(source.mixture, source.corpus, source.seed, self.optim.steps)

    def begin(self) -> GPT:
        """Returns the model before the first step."""
        return self.source.model()

    def end(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Returns the weights that the run keeps, from the weights after the last step."""
        return dict(weights)

    def check(self) -> None:
        """Raises UserError if this training cannot work, before it starts."""
        _ = self.optim, self.batches
