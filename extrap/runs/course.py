"""A course of training: what the stage `train` takes its steps from."""

from typing import Protocol

from torch import Tensor

from extrap.data.mixture import Batches
from extrap.model.gpt import GPT
from extrap.runs.folder import Run
from extrap.runs.training.optim import Optim


class Course(Protocol):
    """From the model that training begins with to the weights that are kept.

    run       name, identity and folder of what is trained
    optim     steps, learning rate, how often it is logged and saved
    batches   the batch of every step
    parent    the course whose weights this one begins with, trained first; None: random weights
    verb      `train` or `tune`, as progress and messages have it
    """

    verb: str

    @property
    def run(self) -> Run: ...

    @property
    def optim(self) -> Optim: ...

    @property
    def batches(self) -> Batches: ...

    @property
    def parent(self) -> "Course | None": ...

    def begin(self) -> GPT:
        """The model that training begins with."""
        ...

    def outline(self) -> GPT:
        """The same for a process that is sent its numbers by another: they need not be there."""
        ...

    def end(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        """The weights that are kept of those that training ended with."""
        ...
