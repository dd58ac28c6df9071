"""A model that an engine serves, evaluated over HTTP like a published checkpoint.

The address, the name of the model, its context and the text name the run: extrap cannot see that
an engine started anew has another setting. Give each setting a label. The folder of the run keeps
what the engine says about its model; rows of another model do not come beside these.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, cast

from annotated_types import Ge, Gt, Interval

from extrap.engine.client import Client, checked
from extrap.engine.model import Engine
from extrap.model.gpt import GPT
from extrap.pretrained.checkpoint import Checkpoint
from extrap.pretrained.vocabulary import PublishedVocabulary, encoder_of
from extrap.runs.build import build
from extrap.runs.folder import read_json
from extrap.runs.published import Published, PublishedRun, first_token
from extrap.tasks.base import Progress, Task
from extrap.utils.errors import UserError


@dataclass(frozen=True, kw_only=True)
class Serving:
    """Options of a model that an engine serves.

    Args:
        url: of its API, up to and with /v1; the command line and Python alone give it
        name: of the model, where the engine serves several
        reference: the checkpoint that the engine should serve, which task=parity compares with it;
            it also gives what follows
        tokenizer: a checkpoint, of which extrap reads no weights, or a folder with tokenizer.json
        train_length: L in tokens
        bos: id of the token in front of a window of text
        requests: on their way at once
        timeout: seconds of one answer
        tries: of a request
    """

    url: str
    name: str | None = None
    reference: str | None = None
    tokenizer: str | None = None
    train_length: Annotated[int, Ge(2)] | None = None
    bos: Annotated[int, Ge(0)] | None = None
    requests: Annotated[int, Interval(ge=1, le=256)] = 4
    timeout: Annotated[float, Gt(0)] = 600
    tries: Annotated[int, Interval(ge=1, le=10)] = 3


class Served(Published):
    """The model of an engine.

    Args:
        tokenizer: an object of transformers or tokenizers, or None: the options name it

    The other arguments: Source.
    """

    less = "give smaller multiples, or leave model.reference out"
    kept = " (the engine was not asked; for another model behind its address give label=NAME)"

    def __init__(
        self, config: Mapping[str, Any], choices: Mapping[str, str], tokenizer: Any = None
    ):
        self.tokenizer = tokenizer
        super().__init__(config, choices)
        checked(self.reading.url)
        if config["finetune"]:
            remedy = "tune its checkpoint, and serve that"
            raise UserError("finetune", problem="an engine is not tuned", remedy=remedy)
        if self.reading.reference and self.reading.tokenizer:
            problem = "model.reference brings its own tokenizer"
            raise UserError("model.tokenizer", self.reading.tokenizer, problem, "leave one out")

    @cached_property
    def reading(self) -> Serving:  # type: ignore[override]
        return build(self.config["model"] | {"_target_": f"{__name__}.Serving"}, "model")

    @cached_property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint that gives tokenizer, context and BOS."""
        own = self.reading
        if own.reference:
            return Checkpoint(own.reference, option="model.reference")
        if own.tokenizer:
            return Checkpoint(own.tokenizer, weights=False, option="model.tokenizer")
        remedy = "give model.reference or model.tokenizer, a folder; in Python tokenizer=..."
        raise UserError("model.tokenizer", None, "no tokenizer to read text with", remedy)

    @cached_property
    def _settings(self) -> dict[str, Any]:
        """The config next to the tokenizer; empty without one."""
        if self.reading.reference is None and self.tokenizer is not None:
            return {}
        if not (self.checkpoint.folder / "config.json").is_file():
            return {}
        return self.checkpoint.settings

    @cached_property
    def length(self) -> int:  # type: ignore[override]
        typed = self.reading.train_length
        if typed is None and not self._settings:
            problem = "an engine does not say for which context its model was trained"
            remedy = 'give it in tokens, as in evaluate(url, "model.train_length=8192")'
            raise UserError("model.train_length", None, problem, remedy)
        return typed or self.checkpoint.length(None)

    @cached_property
    def vocabulary(self) -> PublishedVocabulary:  # type: ignore[override]
        configs = self.checkpoint.tokens if self._settings else ()
        bos = first_token(self.reading.bos, *configs, self.tokenizer)
        if self.tokenizer is not None:
            tokens = encoder_of(self.tokenizer)
            return PublishedVocabulary(tokens, tokens.ids, bos, "tokenizer")
        folder, place = self.checkpoint.folder, self.checkpoint.place
        size = self.checkpoint.vocab if self._settings else encoder_of(folder).ids
        return PublishedVocabulary.of_folder(folder, size, bos, place)

    @cached_property
    def engine(self) -> Engine:
        """The engine, asked for the first time."""
        own = self.reading
        client = Client(own.url, own.requests, own.timeout, own.tries)
        reference = self._reference if own.reference else None
        return Engine(client, self.vocabulary.bos, own.name, reference)

    def _reference(self) -> GPT:
        return cast(GPT, self.checkpoint.model(self.reading.train_length).eval().to(self.device))

    def model(self, device: str = "cpu") -> GPT:
        return cast(GPT, self.engine)

    def untrained(self, layers: int | None = None) -> GPT:
        problem = "compares with the model before training, which an engine does not serve"
        raise UserError("task", problem=problem, remedy="leave the task out")

    def check(self) -> None:
        super().check()
        _ = self.engine

    def refuses(self, task: type[Task]) -> str | None:
        if task.asks == "logits":
            return "reads the logits of all ids, which no engine gives"
        if task.asks == "losses" and not self.engine.scores:
            return "scores the tokens of a text, which this engine does not"
        if task.asks == "reference" and self.reading.reference is None:
            return "compares the engine with model.reference, which is null"
        return None

    @property
    def reference(self) -> str | None:
        return self.checkpoint.sha256 if self.reading.reference else None

    @property
    def params(self) -> int:  # type: ignore[override]
        """Parameters, if the engine says them."""
        return self.engine.size

    @property
    def precision(self) -> str:
        return "32-true"

    @cached_property
    def run(self) -> PublishedRun:  # type: ignore[override]
        identity = {
            "engine": json.dumps([self.reading.url.rstrip("/"), self.reading.name]),
            "train_length": self.length,
            "bos": self.vocabulary.bos,
            "corpus": self.corpus.sha256,
        }
        return PublishedRun(self.label, identity, self.seed)

    def note(self) -> None:
        """Writes the folder of the run. Raises UserError if its rows are of another model, by the
        entries that the engine gave at both times.
        """
        known: dict[str, Any] = {}
        if any((self.run.folder / "done").glob("*.json")):
            known = read_json(self.run.folder / "config.json").get("served") or {}
        served = self.engine.served
        both = known.keys() & served.keys()
        if any(known[name] != served[name] for name in both):
            problem = f"serves {_words(served)}, and {self.run.name} has rows of {_words(known)}"
            remedy = "give label=NAME, which names a run of its own"
            raise UserError("model.url", self.reading.url, problem, remedy)
        self.run.about["served"] = served | known
        super().note()

    def scaled(self) -> str | None:
        return None

    def layers(self, model: GPT) -> list[dict[str, Any]]:
        return []

    def check_reading(self, model: GPT, lengths: Iterable[int], progress: Progress) -> None:
        """The engine was probed before."""


def _words(served: Any) -> str:
    entries = served.items() if isinstance(served, dict) else []
    return " ".join(f"{name}={value!s:.60}" for name, value in entries)
