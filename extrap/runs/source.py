"""The model of a run and its text: `Fresh` comes from a configuration, `Published`
(extrap/runs/published.py) from a checkpoint of others.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cached_property
from typing import Any, ClassVar

import torch
from torch import Tensor

from extrap.data.corpora.base import Corpus
from extrap.data.mixture import Batches, Mixture
from extrap.data.vocabulary import Vocabulary
from extrap.extensions.interpolation import spread
from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.scheme import Scheme, Shape
from extrap.runs.build import build
from extrap.runs.checkpoint import trained_weights
from extrap.runs.choices import describe_data
from extrap.runs.folder import Run
from extrap.runs.texts import opened
from extrap.runs.training.optim import Optim, identity
from extrap.runs.training.options import DTYPES, TrainerOptions, read
from extrap.tasks.base import Task
from extrap.utils.errors import UserError
from extrap.utils.untrusted import memory

DECODER = {"_target_": "extrap.model.decoder.Decoder"}
BYTES, FROZEN = 16, 4
"""Bytes per parameter: itself, gradient and two moments in float32; frozen: itself alone."""


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
    """

    group: ClassVar[str]
    published: ClassVar[bool]

    vocabulary: Vocabulary
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
    def model(self, device: str = "cpu") -> GPT:
        """Returns the model before training; on device meta without numbers."""

    @abstractmethod
    def untrained(self, layers: int | None = None) -> GPT:
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
    def dtype(self) -> torch.dtype:
        """Type of number of the weights in training and on the disk."""
        return DTYPES[self.precision]

    @property
    def device(self) -> torch.device:
        """The device of evaluation. Raises UserError for a GPU that this machine does not have."""
        if (wanted := self.trainer.accelerator) not in ("gpu", "cuda"):
            return torch.device("cpu")
        if not torch.cuda.is_available():
            remedy = f"trainer=cpu trainer.precision={self.precision} evaluates the same run"
            raise UserError("trainer.accelerator", wanted, "this machine has no GPU", remedy)
        return torch.device("cuda")

    def check(self) -> None:
        """Raises UserError for text, a trainer or a model that cannot work on this machine."""
        _ = self.corpus, self.trainer

    def refuses(self, task: type[Task]) -> str | None:
        """Returns why this model cannot be asked for a task, None if it can."""
        return "compares an engine with its model" if task.asks == "reference" else None

    def layers(self, model: GPT) -> list[dict[str, Any]]:
        """Returns the table of layers of a published model, a row a layer."""
        return []

    def advice(self, extension: str) -> str | None:  # noqa: B027
        """Returns a line about an extension of this model for a person; None without one."""

    # --- runs

    def trained(self, run: Run) -> GPT:
        """Returns the model with the weights of a run, in float64 or float32, which holds bfloat16
        exactly. Raises UserError if the weights changed since training.
        """
        model = self.model()
        if self.dtype is torch.float64:
            model.double()
        model.load_state_dict(trained_weights(run, model, self.dtype))
        return model

    def check_reading(self, model: GPT, lengths: Iterable[int]) -> None:  # noqa: B027
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


class Fresh(Source):
    """A model that extrap trains from random weights, and this training.

    parent   the training that gives the first weights: none
    verb     `train`, for progress and messages
    """

    group, published = "scheme", False
    parent, verb = None, "train"

    @cached_property
    def mixture(self) -> Mixture:
        return self.mixture_of(self.config["data"])

    @property
    def vocabulary(self) -> Vocabulary:
        return self.mixture.vocabulary

    @property
    def length(self) -> int:
        return self.mixture.length

    @cached_property
    def corpus(self) -> Corpus:
        return opened(self.mixture.corpus, self.mixture.vocabulary.encoder)

    @cached_property
    def shape(self) -> Shape:
        """Raises UserError for options that make no GPT. All must be there: they name the run."""
        options = self.config["model"]
        if missing := sorted({field.name for field in fields(Decoder)} - set(options)):
            remedy = "give it, or choose a file of conf/model, such as model=tiny"
            raise UserError(f"model.{missing[0]}", problem="missing", remedy=remedy)
        build(options | DECODER, "model")
        return shape_of(options, self.length, self.vocabulary.size)

    def model(self, device: str = "cpu") -> GPT:
        """Returns a new GPT. Parameters outside the scheme start equal for all schemes."""
        config = self.config
        torch.manual_seed(self.seed + 1_000_003)
        scheme = build(config["scheme"], "scheme", config["plugins"], Scheme, shape=self.shape)
        if "shape" not in vars(scheme):
            problem = f"the constructor of {type(scheme).__name__} does not call the one of Scheme"
            remedy = "begin it with super().__init__(shape)"
            raise UserError("scheme", self.choices["scheme"], problem, remedy)
        torch.manual_seed(self.seed)
        with torch.device(device):
            return GPT(scheme, self.vocabulary.size, build(config["model"] | DECODER, "model"))

    def untrained(self, layers: int | None = None) -> GPT:
        depth = {} if layers is None else {"layers": layers}
        config = {**self.config, "model": self.config["model"] | depth}
        return Fresh(config, self.choices).model()

    def check(self) -> None:
        super().check()
        self.corpus.check("train", self.length)
        check_memory(self.params)
        _ = self.optim, self.batches
        if self.mixture.spread:
            try:
                spread(self.model("meta").scheme)
            except ValueError as error:
                problem = f"scheme={self.choices['scheme']}: {error}"
                raise UserError("data.spread", True, problem, "leave it out") from None

    @property
    def precision(self) -> str:
        return self.trainer.precision

    @cached_property
    def run(self) -> Run:
        """Its identity: scheme, model, data, text and training; text and tokenizer by content.

        Options of the model that are null are left out, so that the GPT may get more of them. The
        seed, the machine and how often training logs and saves are no part of it: a laptop
        evaluates a run that a GPU trained. The precision is.
        """
        config, corpus = self.config, self.corpus.sha256
        options = {
            "scheme": config["scheme"],
            "model": {name: value for name, value in config["model"].items() if value is not None},
            "data": describe_data(config["data"]),
            "corpus": corpus,
            "train": identity({**config["train"], **self.steps}),
            "precision": self.precision,
        }
        return Run(self.label, options, self.seed)

    @cached_property
    def optim(self) -> Optim:
        """The optimiser; `train.tokens` gives the steps if it is set."""
        return self.optimiser(self.steps)

    @cached_property
    def steps(self) -> dict[str, int]:
        """The steps of `train.tokens`, in batches of the mixture; {} without it."""
        if (tokens := self.config["train"].get("tokens")) is None:
            return {}
        each = self.mixture.step_tokens
        if not each <= tokens < float("inf"):
            problem = f"expected at least the {each:,} tokens of a step"
            raise UserError("train.tokens", f"{tokens:g}", problem, "give more")
        return {"steps": math.ceil(tokens / each)}

    @cached_property
    def batches(self) -> Batches:
        """The batch of every step."""
        return Batches(self.mixture, self.corpus, self.seed, self.optim.steps)

    def begin(self) -> GPT:
        """Returns the model before the first step."""
        return self.model()

    def end(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Returns the weights that the run keeps, from the weights after the last step."""
        return dict(weights)

    @property
    def reads(self) -> dict[str, Any]:
        return {name: self.config["data"][name] for name in ("corpus", "vocabulary")}

    def mixture_of(self, data: Mapping[str, Any]) -> Mixture:
        return build(data, "data", self.config["plugins"], Mixture)


def shape_of(options: Mapping[str, Any], length: int, vocab: int) -> Shape:
    """Returns the shape of a scheme in a model with these options, of which null ones may lack."""
    dim, heads, layers, norm = (options[name] for name in ("dim", "heads", "layers", "norm"))
    kv_heads, head_dim = (options.get(name) for name in ("kv_heads", "head_dim"))
    return Shape(dim, heads, layers, length, vocab, norm, kv_heads, head_dim)


def check_memory(
    params: int,
    frozen: int = 0,
    remedy: str = "give a smaller model.dim, model.layers or data.vocabulary",
) -> None:
    """Raises UserError if this machine lacks the memory to train so many parameters."""
    need, have = BYTES * params + FROZEN * frozen, memory()
    if need > have:
        needed = f"{params + frozen:,} parameters need {need / 2**30:,.0f} GiB in training"
        problem = f"{needed} and this machine has {have / 2**30:,.0f}"
        raise UserError("model", problem=problem, remedy=remedy)
