"""The model of a run and its text: `Fresh` (fresh.py) comes from a configuration, `Published`
(published.py) from a checkpoint of others.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import torch

from extrap.data.corpora import base
from extrap.data.corpora.base import Corpus
from extrap.data.mixture import Mixture
from extrap.data.vocabulary import Vocabulary
from extrap.runs.build import build
from extrap.runs.checkpoint import trained_weights
from extrap.runs.folder import Run
from extrap.runs.training.optim import Optim
from extrap.runs.training.options import DTYPES, TrainerOptions, read
from extrap.tasks.base import Progress, Task
from extrap.utils import progress
from extrap.utils.errors import UserError
from extrap.utils.untrusted import memory

if TYPE_CHECKING:
    from extrap.model.gpt import GPT

BYTES, FROZEN = 16, 4
"""Bytes per parameter: itself, gradient and two moments in float32; frozen: itself alone."""

LAUNCHER, LOCAL = "hydra/launcher", "local"
"""The choice of where a sweep runs, and the one of this machine."""


class Source(ABC):
    """A model before extrap trains or evaluates it, its text and its tokens. A source builds each
    part at its first use.

    Args:
        config: the composed configuration as plain values
        choices: the name chosen in each group

    group       the group of options that names the series
    published   True for a checkpoint of others
    length      L, the training length in tokens
    precision   the numbers of a training, in Lightning's words: `32-true`
    run         the run of this model before any tuning
    reads       the options of text and vocabulary, which tuning takes over
    less        what to do where a text does not fit into the memory
    kept        what to know about rows that extrap finds and does not measure again
    text        the source of the text, not yet read
    """

    group: ClassVar[str]
    published: ClassVar[bool]
    less: ClassVar[str] = "give smaller multiples"
    kept: ClassVar[str] = ""

    vocabulary: Vocabulary
    text: base.Source
    corpus: Corpus
    length: int
    precision: str
    run: Run
    reads: dict[str, Any]

    def __init__(self, config: Mapping[str, Any], choices: Mapping[str, str]):
        self.config, self.choices = config, choices
        self.seed: int = config["seed"]
        self.label: str = config["label"] or self._name()

    def _name(self) -> str:
        """The name of the series if the option `label` gives none."""
        return self.choices[self.group]

    # --- the model

    @abstractmethod
    def model(self, device: str = "cpu") -> "GPT":
        """Returns the model before training; on device meta without numbers."""

    @abstractmethod
    def untrained(self, layers: int | None = None) -> "GPT":
        """Returns the model with random weights; layers: another depth. Raises UserError if the
        scheme has no form of that depth.
        """

    @cached_property
    def params(self) -> int:
        """Parameters of the model, counted without filling the matrices."""
        return sum(p.numel() for p in self.model("meta").parameters())

    @cached_property
    def trainer(self) -> TrainerOptions:
        return read(self.config["trainer"])

    @property
    def reference(self) -> str | None:
        """The hash of the model that a task compares with this one; None without one."""
        return None

    @property
    def dtype(self) -> torch.dtype:
        """Type of number of the weights in training and on the disk."""
        return DTYPES[self.precision]

    @property
    def device(self) -> torch.device:
        """The device of evaluation: the first device that trainer.devices lists. Raises UserError
        for a GPU that this machine does not have.
        """
        wanted, devices = self.trainer.accelerator, self.trainer.devices
        if wanted not in ("gpu", "cuda"):
            return torch.device("cpu")
        if not torch.cuda.is_available():
            remedy = f"trainer=cpu trainer.precision={self.precision} evaluates the same run"
            raise UserError("trainer.accelerator", wanted, "this machine has no GPU", remedy)
        if not isinstance(devices, list):
            return torch.device("cuda")
        if (count := torch.cuda.device_count()) <= devices[0]:
            remedy = f"give one below {count}"
            raise UserError("trainer.devices", devices, f"this machine has {count} GPUs", remedy)
        return torch.device("cuda", devices[0])

    def check(self) -> None:
        """Raises UserError for text, a trainer or a model that cannot work on this machine."""
        _ = self.corpus, self.trainer

    def refuses(self, task: type[Task]) -> str | None:
        """Returns why this model cannot be asked for a task, None if it can."""
        return "compares an engine with its model" if task.asks == "reference" else None

    def layers(self, model: "GPT") -> list[dict[str, Any]]:
        """Returns the table of layers of a published model, a row a layer."""
        return []

    def advice(self, extension: str) -> str | None:  # noqa: B027
        """Returns a line about an extension of this model for a person; None without one."""

    # --- runs

    @property
    def loaded(self) -> "GPT":
        """The model of `run`, in evaluation mode on its device."""
        return self.trained(self.run).eval().to(self.device)

    def trained(self, run: Run) -> "GPT":
        """Returns the model with the weights of a run, in float64 or float32, which holds bfloat16
        exactly. Raises UserError if the weights changed since training.
        """
        model = self.model()
        if self.dtype is torch.float64:
            model.double()
        model.load_state_dict(trained_weights(run, model, self.dtype))
        return model

    def check_reading(  # noqa: B027
        self, model: "GPT", lengths: Iterable[int], progress: Progress
    ) -> None:
        """Raises UserError if a trained model is no language model in texts of these lengths. A
        scheme is checked before training (extrap.runs.validate).
        """

    def note(self) -> None:  # noqa: B027
        """Writes the folder of `run` if others trained it."""

    def optimiser(self, own: Mapping[str, Any]) -> Optim:
        """Returns the optimiser of the options `train`, with the values of `own` in their place."""
        target = {"_target_": f"{Optim.__module__}.{Optim.__name__}"}
        return build({**self.config["train"], **own, **target}, "train")

    # --- tuning

    @abstractmethod
    def mixture_of(self, data: Mapping[str, Any]) -> Mixture:
        """Builds a mixture of the same text and vocabulary, from its options."""

    @property
    def about_tuning(self) -> dict[str, Any]:
        """Options that change a tuned run and are no part of the identity of `run`."""
        return {}

    def check_tuned(self) -> None:  # noqa: B027
        """Raises UserError if this model cannot be tuned with these options."""

    def check_memory(
        self,
        params: int,
        frozen: int = 0,
        remedy: str = "give a smaller model.dim, model.layers or data.vocabulary",
    ) -> None:
        """Raises UserError if this machine lacks the memory to train so many parameters. Of a
        training on a GPU, or on the nodes of a cluster, it makes the model alone.
        """
        queues = self.choices.get(LAUNCHER, LOCAL) != LOCAL and progress.FILE not in os.environ
        if alone := queues or self.trainer.gpus > 0:
            params, frozen = 0, params + frozen
        need, have = BYTES * params + FROZEN * frozen, memory()
        if need <= have:
            return
        needed = f"{params + frozen:,} parameters need {need / 2**30:,.0f} GiB"
        needed += "" if alone else " in training"
        problem = f"{needed} and this machine has {have / 2**30:,.0f}"
        raise UserError("model", problem=problem, remedy=remedy)
