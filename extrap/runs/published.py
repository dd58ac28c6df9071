"""A run without training: a published checkpoint, read as it is, or the parent of a tuned one.

Named by the hash of its weights and config, by how it is read, and by the text that it is asked
about. It brings its own scheme, tokenizer and context length; of the configuration count `model`,
`extension`, `task` and `data.corpus`. Under `finetune` count `data.text`, too, and what `train`
says of the optimiser: it is tuned on windows of that text.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal, NoReturn, cast

import torch
from annotated_types import Ge
from torch import Tensor

from extrap.data.corpora.base import Corpus, Encoded, Source
from extrap.data.mixture import Mixture
from extrap.data.text import Text
from extrap.data.vocabulary import Vocabulary
from extrap.model.gpt import GPT
from extrap.model.scheme import Shape
from extrap.pretrained.checkpoint import DTYPES, Checkpoint
from extrap.pretrained.vocabulary import PublishedVocabulary
from extrap.runs.build import build
from extrap.runs.checkpoint import trained_weights
from extrap.runs.folder import PUBLISHED, Run, write_json
from extrap.runs.training import devices
from extrap.runs.training.finetune import OWN
from extrap.runs.training.optim import Optim
from extrap.utils.errors import UserError
from extrap.utils.versions import RUN

PRECISIONS = {"fp32": "32-true", "bf16": "bf16-true"}
TEXT = f"{Text.__module__}.{Text.__name__}"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Options of a model that is a checkpoint.

    checkpoint: a folder, a .gguf file, package:NAME/FILE of an installed package, or owner/name of
    the hub. train_length: L in tokens; null is what the config says. dtype: of the weights. bos: id
    that a window of text begins with; null is what the config says. chat: retrieval is asked in the
    turns of the checkpoint's chat template: the context is the text of a user, and the query opens
    the answer; running text stays as it is.
    """

    checkpoint: str
    train_length: Annotated[int, Ge(2)] | None = None
    dtype: Literal["fp32", "bf16"] = "fp32"
    bos: Annotated[int, Ge(0)] | None = None
    chat: bool = False


class PublishedRun(Run):
    """A run whose weights lie elsewhere, trained by others."""

    @property
    def trained(self) -> bool:
        return True

    @property
    def state(self) -> dict[str, Any]:
        return {"schema": RUN, "state": PUBLISHED, "steps": 0, "files": {}}

    def claim(self) -> None:
        """Writes config.json, and into state.json that there is nothing to train."""
        super().claim()
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
        if self.config["stage"] == "train" and not self.config["finetune"]:
            raise UserError(
                f"stage=train: {self.label} is trained already; stage=evaluate asks it, "
                "finetune=lora tunes it"
            )

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
        if isinstance(bos, list):  # several ends of a text
            bos = bos[0] if bos else None
        if bos is None:
            raise UserError(
                "model.bos=null: the config names neither bos_token_id nor eos_token_id; give the "
                "id that a window of text begins with"
            )
        size = self.checkpoint.vocab
        folder, chat = self.checkpoint.folder, self.reading.chat
        return PublishedVocabulary(folder, size, bos, settings.place, chat)

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
        """The checkpoint's own weights; none on device meta. A model of transformers stands for a
        GPT as far as it goes: it is called alike, and refuses to be asked for more.
        """
        empty = device == "meta"
        found = self.checkpoint.model(self.reading.train_length, self.reading.dtype, empty)
        return cast(GPT, found)

    def trained(self, run: Run) -> GPT:
        """The checkpoint itself, or with the weights of a run that was tuned from it."""
        model = self.model()
        if not isinstance(run, PublishedRun):
            model.load_state_dict(self.weights(run, model))
        return model

    def weights(self, run: Run, model: GPT) -> dict[str, Tensor]:
        """Those of the checkpoint, or of a run of this model that was tuned from it."""
        if isinstance(run, PublishedRun):
            return dict(self.model().state_dict())
        return trained_weights(run, model, self.dtype)

    @property
    def dtype(self) -> torch.dtype:
        """Numbers that it is read in, and that tuned weights are kept in."""
        return DTYPES[self.reading.dtype]

    @property
    def precision(self) -> str:
        """In which numbers it is read, in the words of Lightning."""
        return PRECISIONS[self.reading.dtype]

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
        identity: dict[str, Any] = {
            "checkpoint": self.checkpoint.sha256,
            "train_length": self.length,
            "dtype": self.reading.dtype,
            "bos": self.vocabulary.bos,
            "corpus": self.corpus.sha256,
        }
        if self.reading.chat:
            turns = self.vocabulary.turns
            identity["turns"] = [list(turns.before), list(turns.behind)]
        return PublishedRun(self.label, identity, self.seed)

    steps = 1
    """Nobody says how many came before; a tuning that follows on some has no curriculum."""

    @property
    def reads(self) -> dict[str, Any]:
        """The text that it is tuned on; it brings its vocabulary."""
        return {"corpus": self.config["data"]["corpus"], "vocabulary": None}

    def mixture_of(self, data: Mapping[str, Any]) -> Mixture:
        """A mixture in the tokens of the checkpoint. Raises UserError for one with other parts than
        text: the records of `retrieval` have ids of their own, which it has none of.
        """
        more = {f"more.{name}": part for name, part in (data.get("more") or {}).items()}
        for name, part in (dict(data) | more).items():
            if isinstance(part, Mapping) and part.get("size") and part["_target_"] != TEXT:
                raise UserError(
                    f"data.{name}: a published checkpoint is tuned on text alone; give data=text, "
                    "or size=0 there"
                )
        known = {name: value for name, value in data.items() if name != "vocabulary"}
        return build(known, "data", self.config["plugins"], Mixture, vocabulary=self.vocabulary)

    @property
    def about_tuning(self) -> dict[str, Any]:
        """What tuning depends on and the identity of the checkpoint does not say."""
        train = {name: value for name, value in self.config["train"].items() if name not in OWN}
        return {"train": train, "precision": devices.precision(self.trainer.get("precision"))}

    def check_tuned(self) -> None:
        """Raises UserError for a model of transformers, and for a training in other numbers than
        those it is read in.
        """
        if (plain := self.checkpoint.plain) is not None:
            raise UserError(
                f"finetune: model_type={plain.kind} is read through transformers, logits alone; "
                "leave finetune=none"
            )
        word = devices.precision(self.trainer.get("precision"))
        if devices.DTYPES[word] is not self.dtype:
            raise UserError(
                f"trainer.precision={word}: keeps other numbers than model.dtype="
                f"{self.reading.dtype}; give trainer.precision={self.precision}"
            )

    @property
    def batches(self) -> NoReturn:
        raise UserError(f"{self.label}: a published checkpoint is not trained here")

    def begin(self) -> GPT:
        raise UserError(f"{self.label}: a published checkpoint is not trained here")

    def outline(self) -> GPT:
        return self.begin()

    def end(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        return weights
