"""A training: the steps of the stage `train`, from the first weights to the weights that a run
keeps. `Pretraining` begins with random weights, `FineTuned` (extrap/runs/finetuned.py) with the
weights of another run.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from torch import Tensor

from extrap.data.mixture import Batches
from extrap.model.gpt import GPT
from extrap.runs.build import build
from extrap.runs.folder import Run
from extrap.runs.source import Fresh, Source
from extrap.runs.training.optim import Optim


class Training(ABC):
    """One training of one run.

    source    the model, its text and its tokens
    parent    the training that comes before, if the bench does that too
    label     name of the series in rows and figures
    run       name, identity and folder of the result
    optim     steps, learning rate, how often training logs and saves
    batches   the batch of every step
    verb      `train` or `tune`, for progress and messages
    """

    source: Source
    parent: "Training | None"
    label: str
    run: Run
    optim: Optim
    batches: Batches
    verb: ClassVar[str]

    @abstractmethod
    def begin(self) -> GPT:
        """The model that training begins with."""

    @abstractmethod
    def outline(self) -> GPT:
        """The same for a process that gets the numbers from another: it may have none."""

    @abstractmethod
    def end(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The weights that the run keeps, from the weights that training ended with."""

    @abstractmethod
    def check(self) -> None:
        """Raises UserError if this training cannot work, before it starts."""

    def chain(self) -> list["Training"]:
        """The trainings that lead to this run, in their order."""
        return [*(self.parent.chain() if self.parent else []), self]


def optimiser(options: Mapping[str, Any]) -> Optim:
    """The optimiser of the options `train`."""
    return build({**options, "_target_": f"{Optim.__module__}.{Optim.__name__}"}, "train")


@dataclass(frozen=True)
class Pretraining(Training):
    """The training of a model with random weights."""

    source: Fresh
    parent: None = None
    verb = "train"

    @property
    def label(self) -> str:
        return self.source.label

    @property
    def run(self) -> Run:
        return self.source.run

    @cached_property
    def optim(self) -> Optim:
        return optimiser(self.source.config["train"])

    @cached_property
    def batches(self) -> Batches:
        source = self.source
        return Batches(source.mixture, source.corpus, source.seed, self.optim.steps)

    def begin(self) -> GPT:
        return self.source.model()

    def outline(self) -> GPT:
        return self.source.model("meta")

    def end(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return dict(weights)

    def check(self) -> None:
        _ = self.optim, self.batches
