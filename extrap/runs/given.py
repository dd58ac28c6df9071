"""A model in a variable, evaluated like a published checkpoint. Its logits of a fixed text name it
in rows, with what its config says of longer texts; it has no folder.
"""

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import Any, cast

import torch
from torch import nn

from extrap.data.vocabulary import Vocabulary
from extrap.model.gpt import GPT
from extrap.pretrained.adapter import of_variable
from extrap.pretrained.plain import as_written, check, config_of, device_of, length_of, name_of
from extrap.pretrained.scaling import scaling_of
from extrap.pretrained.vocabulary import PublishedVocabulary, encoder_of
from extrap.runs.build import build
from extrap.runs.published import Published, PublishedRun, first_token
from extrap.utils.errors import UserError

PROBE = 64
"""Tokens of that text."""
LENGTHS = ("sliding_window", "attention_chunk_size")
"""Entries of a config past which logits may differ."""


class Given(Published):
    """A model in a variable.

    Args:
        subject: the model
        tokenizer: of transformers or tokenizers, a folder, a name on the hub, or None: the model
            then reads the ids of data.vocabulary

    The other arguments: Source.
    """

    less = "give smaller multiples, or cast the model"

    def __init__(
        self,
        subject: Any,
        tokenizer: Any,
        config: Mapping[str, Any],
        choices: Mapping[str, str],
    ):
        subject = as_written(subject)  # a probe would compile whatever it changes
        check(subject)
        self.subject, self.tokenizer = subject, tokenizer
        super().__init__(config, choices)
        replaced = self.reading.scaling == "replace"
        needs = {"finetune": config["finetune"], "model.chat": self.reading.chat}
        needs["model.device_map"] = self.reading.device_map
        for option, wrong in (needs | {"model.scaling": replaced}).items():
            if wrong:
                problem = "needs the folder of a checkpoint, and this is a model in a variable"
                raise UserError(option, problem=problem, remedy="give the path of the folder")
        if self.reading.dtype != "fp32":
            problem = "a model in a variable has the numbers that it has"
            remedy = "cast the model, or give the path of its folder"
            raise UserError("model.dtype", self.reading.dtype, problem, remedy)
        if self.reading.bos is not None and tokenizer is None:
            problem = "without a tokenizer the model reads the ids of data.vocabulary, its BOS too"
            raise UserError("model.bos", self.reading.bos, problem, "give tokenizer=...")

    def _name(self) -> str:
        return name_of(self.subject)

    @cached_property
    def length(self) -> int:
        config, typed = config_of(self.subject), self.reading.train_length
        own = None if config is None else length_of(config)
        if isinstance(self.subject, GPT):
            own = self.subject.scheme.shape.length
        if typed and isinstance(self.subject, GPT) and typed != own:
            raise UserError("model.train_length", typed, f"this GPT has {own}", "leave it out")
        if not (length := typed or own):
            problem = f"{self.label} does not say for which context it was trained"
            remedy = 'give it in tokens, as in evaluate(model, "model.train_length=64")'
            raise UserError("model.train_length", None, problem, remedy)
        return length

    def scaled(self) -> str | None:
        config = config_of(self.subject)
        return None if config is None else scaling_of(config)

    @cached_property
    def _adapted(self) -> nn.Module:
        return of_variable(self.subject, self.length)

    @cached_property
    @torch.no_grad()
    def _probed(self) -> torch.Tensor:
        """Logits (1, T, vocab) of the text that names the model."""
        ids = torch.arange(min(PROBE, self.length))[None] % 8
        return self._adapted(ids.to(self.device)).float().cpu()

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return device_of(self.subject)

    @cached_property
    def vocabulary(self) -> Vocabulary:  # type: ignore[override]
        size = self._probed.shape[2]
        if self.tokenizer is None:
            made = build(self.config["data"]["vocabulary"], "data.vocabulary", kind=Vocabulary)
            if made.size == size:
                return made
            problem = f"{self.label} has {size} ids, data.vocabulary has {made.size}"
            raise UserError("tokenizer", None, problem, "give the tokenizer of the model")
        config = getattr(self.subject, "config", None)
        published = config_of(self.subject)
        text = None if published is None else published.get_text_config()
        bos = first_token(self.reading.bos, config, text, self.tokenizer)
        tokens = encoder_of(self.tokenizer)
        if 2 * tokens.ids < size:
            problem = f"a tokenizer of {tokens.ids} ids, a model of {size}"
            raise UserError("tokenizer", problem=problem, remedy="give the tokenizer of the model")
        return PublishedVocabulary(tokens, size, bos, "tokenizer")

    def model(self, device: str = "cpu") -> GPT:
        """The model itself, whatever the device."""
        return cast(GPT, self._adapted)

    def untrained(self, layers: int | None = None) -> GPT:
        problem = "compares with the model before training, which a variable does not hold"
        raise UserError("task", problem=problem, remedy="give the path of the checkpoint")

    @cached_property
    def run(self) -> PublishedRun:
        identity: dict[str, Any] = {
            "logits": hashlib.sha256(self._probed.numpy().tobytes()).hexdigest(),
            "train_length": self.length,
            "bos": self.vocabulary.bos,
            "corpus": self.corpus.sha256,
        }
        if further := past_probe(self.subject):
            identity["config"] = further
        return PublishedRun(self.label, identity, self.seed)


def past_probe(subject: Any) -> dict[str, Any]:
    """Returns the entries of a config of transformers by which logits may differ in texts longer
    than the one that names a model: its scaling, its windows and chunks; {} without them.
    """
    config = config_of(subject)
    if config is None:
        return {}
    text = config.get_text_config()
    lengths = {name: getattr(text, name, None) for name in LENGTHS}
    found: dict[str, Any] = {}
    if scaling_of(config) is not None:
        found["rope_parameters"] = text.rope_parameters
    if any(lengths.values()):
        found |= lengths | {"layer_types": getattr(text, "layer_types", None)}
    return found
