"""A run without training: a published checkpoint, read as it is.

Named by the hash of its weights and config, by how it is read, and by the text that it is asked
about. It brings its own scheme, tokenizer and context length; of the configuration count `model`,
`extension`, `task` and `data.corpus`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal

import torch
from annotated_types import Ge
from torch import Tensor

from extrap.data.corpora.base import Corpus, Encoded, Source
from extrap.data.vocabulary import Vocabulary
from extrap.model.gpt import GPT
from extrap.model.scheme import Shape
from extrap.pretrained.checkpoint import Checkpoint
from extrap.pretrained.vocabulary import PublishedVocabulary
from extrap.runs.build import build
from extrap.runs.folder import PUBLISHED, Run, write_json
from extrap.runs.training.optim import Optim
from extrap.utils.errors import UserError
from extrap.utils.versions import RUN


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Options of a model that is a checkpoint.

    checkpoint: a folder, a .gguf file, package:NAME/FILE of an installed package, or owner/name of
    the hub. train_length: L in tokens; null is what the config says. dtype: of the weights. bos: id
    that a window of text begins with; null is what the config says.
    """

    checkpoint: str
    train_length: Annotated[int, Ge(2)] | None = None
    dtype: Literal["fp32", "bf16"] = "fp32"
    bos: Annotated[int, Ge(0)] | None = None


class PublishedRun(Run):
    """A run whose weights lie elsewhere, trained by others."""

    @property
    def trained(self) -> bool:
        return True

    @property
    def state(self) -> dict[str, Any]:
        return {"schema": RUN, "state": PUBLISHED, "steps": 0, "files": {}}

    def claim(self, **machine: str) -> None:
        """Writes config.json, and into state.json that there is nothing to train."""
        super().claim(**machine)
        write_json(self.folder / "state.json", self.state)


@dataclass
class Published:
    """Stands where Pretraining does for a model that is trained here.

    config: the composed configuration as plain values; label: name of the series in rows; opened:
    the corpus of a source. Raises UserError for options that would be left unread.
    """

    config: Mapping[str, Any]
    label: str
    opened: Callable[[Encoded], Corpus] = field(default=lambda source: source.open())

    parent = None
    verb = "train"

    @classmethod
    def meant(cls, config: Mapping[str, Any]) -> bool:
        """Whether a configuration is about a checkpoint."""
        return isinstance(config["model"], Mapping) and "checkpoint" in config["model"]

    def __post_init__(self) -> None:
        self.seed: int = self.config["seed"]
        if self.config["stage"] == "train":
            raise UserError(f"stage=train: {self.label} is trained already; stage=evaluate asks it")
        if self.config["finetune"]:
            raise UserError(f"finetune: {self.label} is read as it is; leave finetune=none")

    @cached_property
    def reading(self) -> Reading:
        name = f"{Reading.__module__}.{Reading.__name__}"
        return build(dict(self.config["model"]) | {"_target_": name}, "model")

    @cached_property
    def checkpoint(self) -> Checkpoint:
        return Checkpoint(self.reading.checkpoint)

    @cached_property
    def optim(self) -> Optim:
        return build(
            self.config["train"] | {"_target_": "extrap.runs.training.optim.Optim"}, "train"
        )

    @cached_property
    def vocabulary(self) -> Vocabulary:
        settings, bos = self.checkpoint.settings, self.reading.bos
        for name in ("bos_token_id", "eos_token_id"):
            bos = settings.get(name) if bos is None else bos
        size = self.checkpoint.plan.vocab
        return PublishedVocabulary(self.checkpoint.folder, size, bos or 0, settings.place)

    @property
    def length(self) -> int:
        return self.checkpoint.length(self.reading.train_length)

    @cached_property
    def corpus(self) -> Corpus:
        node = self.config["data"]["corpus"]
        source = build(node, "data.corpus", self.config["plugins"], Source)
        return self.opened(Encoded(source, self.vocabulary.encoder))

    @property
    def shape(self) -> Shape:
        return self.model("meta").scheme.shape

    def model(self, device: str = "cpu") -> GPT:
        """The checkpoint's own weights; none on device meta."""
        empty = device == "meta"
        return self.checkpoint.model(self.reading.train_length, self.reading.dtype, empty)

    def trained(self, run: Run) -> GPT:
        """The same, whatever the run is called."""
        return self.model()

    @property
    def precision(self) -> str:
        """In which numbers it is read, in the words of Lightning."""
        return {"fp32": "32-true", "bf16": "bf16-true"}[self.reading.dtype]

    def untrained(self, layers: int | None = None) -> GPT:
        """The same architecture with random weights, of its own depth or another."""
        torch.manual_seed(self.seed)
        return self.checkpoint.untrained(self.reading.train_length, layers)

    @cached_property
    def params(self) -> int:
        return sum(p.numel() for p in self.model("meta").parameters())

    @property
    def trainer(self) -> dict[str, Any]:
        return dict(self.config["trainer"])

    @cached_property
    def run(self) -> Run:
        identity = {
            "checkpoint": self.checkpoint.sha256,
            "train_length": self.length,
            "dtype": self.reading.dtype,
            "bos": self.vocabulary.bos,
            "corpus": self.corpus.sha256,
        }
        return PublishedRun(self.label, identity, self.seed)

    def begin(self) -> GPT:
        raise UserError(f"{self.label}: a published checkpoint is not trained on here")

    def end(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        return weights
