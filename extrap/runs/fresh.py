"""A model that extrap trains from random weights."""

import math
from collections.abc import Mapping
from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from extrap.data.corpora import base
from extrap.data.corpora.base import Corpus
from extrap.data.mixture import Batches, Mixture
from extrap.data.vocabulary import Vocabulary
from extrap.model.decoder import Decoder
from extrap.model.scheme import Scheme, Shape
from extrap.runs.build import build
from extrap.runs.choices import describe_data
from extrap.runs.folder import Run
from extrap.runs.source import Source
from extrap.runs.texts import opened
from extrap.runs.training.optim import Optim, identity
from extrap.utils.errors import UserError

if TYPE_CHECKING:
    from extrap.model.gpt import GPT

DECODER = {"_target_": "extrap.model.decoder.Decoder"}


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

    @property
    def text(self) -> base.Source:
        return self.mixture.corpus

    @cached_property
    def corpus(self) -> Corpus:
        return opened(self.text, self.mixture.vocabulary.encoder)

    @cached_property
    def shape(self) -> Shape:
        """Raises UserError for options that make no GPT. All must be there: they name the run."""
        options = self.config["model"]
        if missing := sorted({field.name for field in fields(Decoder)} - set(options)):
            remedy = "give it, or choose a file of conf/model, such as model=tiny"
            raise UserError(f"model.{missing[0]}", problem="missing", remedy=remedy)
        build(options | DECODER, "model")
        return shape_of(options, self.length, self.vocabulary.size)

    def model(self, device: str = "cpu") -> "GPT":
        """Returns a new GPT. Parameters outside the scheme start equal for all schemes."""
        from extrap.model.gpt import GPT

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

    def untrained(self, layers: int | None = None) -> "GPT":
        depth = {} if layers is None else {"layers": layers}
        config = {**self.config, "model": self.config["model"] | depth}
        return Fresh(config, self.choices).model()

    def check(self) -> None:
        super().check()
        self.corpus.check("train", self.length)
        self.check_memory(self.params)
        _ = self.optim, self.batches
        if self.mixture.spread:
            from extrap.extensions.interpolation import spread

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

    def begin(self) -> "GPT":
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
