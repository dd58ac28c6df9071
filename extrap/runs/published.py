"""A published checkpoint, evaluated as it is or tuned.

Its run is named by the hash of its weights and config, by the options of `model`, and by the text
of the evaluation. The checkpoint brings its own scheme, tokenizer and context length, so extrap
reads `model`, `extension`, `task` and `data.corpus` alone; under `finetune` also `data.text`, the
windows that tune it, and the options of the optimiser in `train`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Annotated, Any, Literal, cast

import torch
from annotated_types import Ge

from extrap.data.corpora import base
from extrap.data.corpora.base import Corpus
from extrap.data.mixture import Mixture
from extrap.data.text import Text
from extrap.model.fitting import LESS
from extrap.model.gpt import GPT
from extrap.pretrained.adapter import Adapted
from extrap.pretrained.causal import fault
from extrap.pretrained.checkpoint import Checkpoint
from extrap.pretrained.plain import spread
from extrap.pretrained.quantised import check_library
from extrap.pretrained.scaling import scaling_of
from extrap.pretrained.table import layer_table
from extrap.pretrained.vocabulary import PublishedVocabulary
from extrap.runs.build import build
from extrap.runs.folder import PUBLISHED, Run, write_json
from extrap.runs.source import Source
from extrap.runs.texts import opened
from extrap.runs.training import options
from extrap.runs.training.finetune import OWN
from extrap.runs.training.optim import identity
from extrap.tasks.base import Progress
from extrap.utils import versions
from extrap.utils.errors import UserError

PRECISIONS = {"fp32": "32-true", "bf16": "bf16-true"}
KEPT = "checkpoint", "loaded", "vocabulary"
TEXT = f"{Text.__module__}.{Text.__name__}"


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Options of a model that is a checkpoint.

    Args:
        checkpoint: a folder, a .gguf file, package:NAME/FILE of an installed package, or owner/name
            of the hub
        train_length: L in tokens; null takes it from the config
        dtype: of the weights
        bos: id of the token in front of a window of text; null takes it from the config, or from
            tokenizer_config.json
        chat: retrieval uses the turns of the checkpoint's chat template: the user's text is the
            context, and the query opens the answer; running text stays as it is
        scaling: chain keeps the scaling of rotations that the config brings, and an extension acts
            on the scaled frequencies; replace takes it away: L is the original window, and an
            extension starts there
        device_map: auto lays the layers out on all GPUs, the memory of the machine and its disk, as
            accelerate does; null puts the model on the device of the trainer
    """

    checkpoint: str
    train_length: Annotated[int, Ge(2)] | None = None
    dtype: Literal["fp32", "bf16"] = "fp32"
    bos: Annotated[int, Ge(0)] | None = None
    chat: bool = False
    scaling: Literal["chain", "replace"] = "chain"
    device_map: Literal["auto"] | None = None


class PublishedRun(Run):
    """The run of a checkpoint: others trained it, and its weights lie elsewhere."""

    @property
    def trained(self) -> bool:
        return True

    @property
    def state(self) -> dict[str, Any]:
        return {"schema": versions.RUN, "state": PUBLISHED, "steps": 0, "files": {}}

    def claim(self) -> None:
        """Writes config.json, and a state.json without files."""
        super().claim()
        write_json(self.folder / "state.json", self.state)


class Published(Source):
    """A checkpoint of others."""

    group, published, less = "model", True, LESS

    def _name(self) -> str:
        """With chat=true or scaling=replace the rows are a series of their own."""
        own = self.config["model"]
        chat = "-chat" if own.get("chat") is True else ""
        return super()._name() + chat + ("-unscaled" if own.get("scaling") == "replace" else "")

    @cached_property
    def reading(self) -> Reading:
        return build(self.config["model"] | {"_target_": f"{__name__}.Reading"}, "model")

    @cached_property
    def checkpoint(self) -> Checkpoint:
        own = self.reading
        return Checkpoint(own.checkpoint, scaling=own.scaling, device_map=own.device_map)

    def scaled(self) -> str | None:
        """Returns the scaling that the config brings, in words; None without one."""
        return scaling_of(self.checkpoint.given)

    def advice(self, extension: str) -> str | None:
        """Says whether an extension acts on a scaling that the config brings."""
        if (scaling := self.scaled()) is None:
            return None
        own = f"the config scales rotations already ({scaling})"
        chain = f"extension={extension} acts on the scaled frequencies (model.scaling=chain)"
        if self.reading.scaling == "replace":
            chain = f"extension={extension} replaces this from L = {self.length} tokens on"
        return f"{own}; {chain}"

    def layers(self, model: GPT) -> list[dict[str, Any]]:
        return layer_table(model) if isinstance(model, Adapted) else []

    @cached_property
    def vocabulary(self) -> PublishedVocabulary:
        checkpoint, chat = self.checkpoint, self.reading.chat
        bos = first_token(self.reading.bos, *checkpoint.tokens)
        return PublishedVocabulary.of_folder(
            checkpoint.folder, checkpoint.vocab, bos, checkpoint.place, chat
        )

    @property
    def device(self) -> torch.device:
        """A model on several devices reads ids on the first GPU, or without a GPU on the CPU."""
        if getattr(self.reading, "device_map", None) and torch.cuda.is_available():
            return torch.device("cuda")
        return super().device

    @property
    def length(self) -> int:
        return self.checkpoint.length(self.reading.train_length)

    @cached_property
    def text(self) -> base.Source:
        node = self.config["data"]["corpus"]
        return build(node, "data.corpus", self.config["plugins"], base.Source)

    @cached_property
    def corpus(self) -> Corpus:
        return opened(self.text, self.vocabulary.encoder)

    def model(self, device: str = "cpu") -> GPT:
        """Returns the checkpoint's model. A model of transformers has the call of a GPT alone."""
        empty = device == "meta"
        model = self.checkpoint.model(self.reading.train_length, self.reading.dtype, empty)
        return cast(GPT, model)

    @cached_property
    def loaded(self) -> GPT:
        """The model that evaluations share: tasks and extensions leave it as it is."""
        made = self.model().eval()
        return made if spread(getattr(made, "net", made)) else made.to(self.device)

    def again(self, config: Mapping[str, Any], choices: Mapping[str, str]) -> "Published":
        """Returns the source of another evaluation of this checkpoint, with the model, the hash and
        the vocabulary of this one where the options are the same: advice on them is given once.
        """
        made = type(self)(config, choices)
        if made.config["model"] == self.config["model"] and made.device == self.device:
            kept = {name: vars(self)[name] for name in KEPT if name in vars(self)}
            vars(made).update(kept)
        return made

    def untrained(self, layers: int | None = None) -> GPT:
        torch.manual_seed(self.seed)
        return cast(GPT, self.checkpoint.untrained(self.reading.train_length, layers))

    @property
    def precision(self) -> str:
        return PRECISIONS[self.reading.dtype]

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
        if self.reading.scaling == "replace":
            identity["scaling"] = "replace"
        return PublishedRun(self.label, identity, self.seed)

    def trained(self, run: Run) -> GPT:
        return self.model() if isinstance(run, PublishedRun) else super().trained(run)

    def check_reading(self, model: GPT, lengths: Iterable[int], progress: Progress) -> None:
        if found := fault(model, self.device, lengths, progress):
            raise UserError("model", self.label, *found)

    def note(self) -> None:
        with self.run.alone():
            self.run.claim()

    @property
    def reads(self) -> dict[str, Any]:
        """The checkpoint brings its vocabulary."""
        return {"corpus": self.config["data"]["corpus"], "vocabulary": None}

    def mixture_of(self, data: Mapping[str, Any]) -> Mixture:
        """Builds a mixture in the tokens of the checkpoint. Raises UserError for a part other than
        text: the records of `retrieval` need ids that a checkpoint does not have.
        """
        more = {f"more.{name}": part for name, part in (data.get("more") or {}).items()}
        for name, part in (dict(data) | more).items():
            if isinstance(part, Mapping) and part.get("size") and part["_target_"] != TEXT:
                problem = "a published checkpoint is tuned on text alone"
                remedy = "give data=text, or size=0 there"
                raise UserError(f"data.{name}", problem=problem, remedy=remedy)
        known = {name: value for name, value in data.items() if name != "vocabulary"}
        return build(known, "data", self.config["plugins"], Mixture, vocabulary=self.vocabulary)

    @property
    def about_tuning(self) -> dict[str, Any]:
        train = {name: value for name, value in self.config["train"].items() if name not in OWN}
        return {"train": identity(train), "precision": self.trainer.precision}

    def check_tuned(self) -> None:
        """Raises UserError for weights of fewer bits, for a model laid out on several devices or of
        logits alone, and for another type than `model.dtype`.
        """
        if method := check_library(self.checkpoint.settings, self.checkpoint.place):
            problem = f"quantization_config.quant_method={method} keeps weights of fewer bits"
            remedy = "tune a checkpoint in floating point, or leave finetune out"
            raise UserError("finetune", problem=problem, remedy=remedy)
        if layout := self.reading.device_map:
            problem = "lays a model out to be evaluated, and tuning needs it on one device"
            raise UserError("model.device_map", layout, problem, "leave it or finetune out")
        _ = self.model("meta").scheme
        if options.DTYPES[word := self.trainer.precision] is not self.dtype:
            problem = f"has another type of number than model.dtype={self.reading.dtype}"
            remedy = f"give trainer.precision={self.precision}"
            raise UserError("trainer.precision", word, problem, remedy)


def first_token(given: int | None, *configs: Any) -> int:
    """Returns the id of the token before a text: the given one, else the first BOS that the
    configs, mappings or objects, name, else the first EOS. Raises UserError if there is none.
    """
    names = ("bos_token_id", "eos_token_id")
    if given is not None:
        return given
    for name, config in product(names, configs):
        bos = config.get(name) if isinstance(config, Mapping) else getattr(config, name, None)
        first = bos[0] if isinstance(bos, list) and bos else bos
        if isinstance(first, int):
            return first
    problem = f"no config names {' or '.join(names)}"
    raise UserError("model.bos", None, problem, "give the id of the token before a text")
