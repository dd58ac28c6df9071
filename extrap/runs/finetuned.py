"""A fine-tuned run: a run of its own that begins with the weights of another, its parent.

Its identity is that of the parent, the options of tuning, the data, and the extension as it stands
while tuning; like any run it is named by that and its seed. What is saved are the weights of the
plain model, for an extension with any factor to read with.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from extrap.data.mixture import Batches
from extrap.extensions.base import Extension
from extrap.model.gpt import GPT
from extrap.model.scheme import OutOfRange
from extrap.runs.build import build
from extrap.runs.choices import changed, node
from extrap.runs.folder import Run
from extrap.runs.near import untrained
from extrap.runs.pretraining import Pretraining, describe_data, more_parts
from extrap.runs.published import Published
from extrap.runs.training import devices
from extrap.runs.training.finetune import Tuning
from extrap.runs.training.optim import Optim
from extrap.runs.training.shared_parameters import own_factor, shared, with_factor
from extrap.runs.validate import check_memory
from extrap.utils.errors import NotApplicable, UserError

DATA = "data@finetune.data"


class FineTuned:
    """The course of a run that begins with the weights of another.

    Args:
        parent: the course those weights come from, or a published checkpoint; its configuration
            holds the options of tuning
        choices: the name chosen in each group
        extension, extension_name: the extension of the job, and its name in rows
    """

    verb = "tune"

    def __init__(
        self,
        parent: Pretraining | Published,
        choices: Mapping[str, str],
        extension: Extension,
        extension_name: str,
    ):
        self.parent = parent
        self.config = parent.config
        self.choices = choices
        self.extension = extension
        self.extension_name = extension_name
        self.options = self.config["finetune"]
        self.choice = f"finetune={choices['finetune']}"

    @cached_property
    def tuning(self) -> Tuning:
        options = {name: value for name, value in self.options.items() if name != "data"}
        return build(options, "finetune", self.config["plugins"], Tuning)

    @cached_property
    def optim(self) -> Optim:
        return self.tuning.optim(self.config["train"])

    @cached_property
    def factor(self) -> float:
        """The train factor: tuned on windows of factor x L tokens. Raises UserError where neither
        option nor the extension says it.
        """
        extension, factor = self.extension, self.tuning.factor
        factor = extension.tuned_at if factor is None else factor
        if factor is None and (factor := own_factor(extension, self.parent.length)) is None:
            name = self.choices["extension"]
            raise UserError(
                f"finetune.factor=null: extension={name} follows the length of the text; give "
                "finetune.factor=4, say"
            )
        return float(factor)

    @property
    def length(self) -> int:
        return round(self.factor * self.parent.length)

    @cached_property
    def extension_options(self) -> dict[str, Any]:
        """The extension while tuning: that of the job, set for the train factor unless it is tuned
        on windows of its own.
        """
        options, extension = self.config["extension"], self.extension
        own = extension.tuned_at is not None or own_factor(extension, self.parent.length) is None
        return options if own else with_factor(options, self.factor)

    @cached_property
    def data(self) -> dict[str, Any]:
        """The mixture at the length of tuning, with fewer windows a step. Its text and vocabulary
        are those of training.
        """
        ours, given = self.config["data"], self.options.get("data")
        if given is not None:
            self._check_data(given)
        share = 1 / self.factor if self.tuning.batch is None else self.tuning.batch
        data = (given or ours) | self.parent.reads | {"length": self.length}
        parts = {
            name: smaller(part, share)
            for name, part in data.items()
            if isinstance(part, Mapping) and "size" in part
        }
        more = {
            name: smaller(part, share) if isinstance(part, Mapping) and "size" in part else part
            for name, part in more_parts(data, "finetune.data").items()
        }
        return data | parts | ({"more": more} if more else {})

    def _check_data(self, given: Mapping[str, Any]) -> None:
        """Raises UserError for a text or a vocabulary of its own, which would be left unread."""
        for name in ("corpus", "vocabulary"):
            usual = node(f"data/{name}", self.choices.get(f"data/{name}@finetune.data.{name}", ""))
            if given.get(name) not in (usual, self.config["data"][name]):
                raise UserError(
                    f"finetune.data.{name}: tuning reads what training read; give data.{name} alone"
                )

    @cached_property
    def batches(self) -> Batches:
        try:
            mixture = self.parent.mixture_of(self.data)
        except UserError as error:
            raise UserError(self._of_tuning(str(error))) from None
        return Batches(
            mixture,
            self.parent.corpus,
            self.parent.seed,
            self.optim.steps,
            after=self.parent.steps,
        )

    def _of_tuning(self, said: str) -> str:
        """What is wrong with the mixture, by the option that makes it so: those of its own, or else
        the length of its windows, the one thing that is not as in training.
        """
        if self.options.get("data") is None:
            return f"finetune.factor={self.factor:g}: windows of {self.length} tokens; {said}"
        return re.sub(r"(?<![.\w])data\.(?!vocabulary|corpus|length)", "finetune.data.", said)

    @cached_property
    def label(self) -> str:
        """Of the parent, then method, extension and train factor: `rope-full-yarn-x4`; options that
        differ from their files between.
        """
        options = {
            name: value
            for name, value in self.options.items()
            if name not in ("data", "factor", "log_every", "save_every")
        }
        own = changed(options, node("finetune", self.choices["finetune"]), self.config["plugins"])
        changes = [
            self.choices["finetune"],
            *(f"{key}-{value}" for key, value in own.items()),
            self.choices.get(DATA) or "",
        ]
        names = [
            self.parent.label,
            *filter(None, changes),
            self.extension_name,
            f"x{self.factor:g}",
        ]
        label = re.sub(r"[^A-Za-z0-9._]+", "-", "-".join(names))
        if len(label) > 80:
            raise UserError(
                f"label={self.parent.label}: the tuned run {label} has more than 80 characters; "
                "give a shorter one"
            )
        return label

    @property
    def _recipe(self) -> dict[str, Any]:
        """What no other part of the identity says."""
        elsewhere = ("data", "factor", "batch", "log_every", "save_every")
        return {name: value for name, value in self.options.items() if name not in elsewhere}

    @cached_property
    def run(self) -> Run:
        identity = {
            "parent": self.parent.run.identity,
            "finetune": self._recipe,
            "factor": self.factor,
            "extension": self.extension_options,
            "data": describe_data(self.data),
            **self.parent.about_tuning,
        }
        about = {
            "parent": self.parent.run.name,
            "train_factor": self.factor,
            "steps": self.optim.steps,
        }
        return Run(self.label, identity, self.parent.seed, about)

    def begin(self) -> GPT:
        """The parent's weights with the extension in place, ready to be tuned. Raises UserError
        where the parent diverged.
        """
        if self.parent.run.state.get("state") == "diverged":
            raise UserError(
                f"{self.choice}: {self.parent.run.name} diverged, there is nothing to tune; train "
                "it with other options"
            )
        extended, _ = self._extended(self.parent.trained(self.parent.run))
        torch.manual_seed(self.parent.seed + 2_000_003)
        self.tuning.adapt(extended)
        return extended

    def outline(self) -> GPT:
        """With all its numbers, as an extension may look at them."""
        return self.begin()

    def end(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The weights of the plain model from those that were tuned."""
        plain = self.parent.model("meta")
        names, tuned = self._extended(plain)[1], self.tuning.merge(weights)
        return self.parent.weights(self.parent.run, plain) | {
            names[name]: tensor for name, tensor in tuned.items() if name in names
        }

    def _extended(self, model: GPT) -> tuple[GPT, dict[str, str]]:
        """The extended model, and the name that each of its parameters has in the plain one."""
        extension = build(self.extension_options, "extension", self.config["plugins"], Extension)
        names = shared(model)
        extended = extension(model)
        which = f"extension={self.choices['extension']} {self.choice}"
        if not isinstance(extended, GPT):
            raise NotApplicable(
                f"{which}: it is a way of reading, not a model to tune; evaluate it on "
                "finetune=none"
            )
        found = {name: names.get(id(p)) for name, p in extended.named_parameters()}
        if None in found.values():
            raise NotApplicable(
                f"{which}: it brings parameters of its own, for which the plain model has no place"
            )
        return extended, found  # type: ignore[return-value]

    def check(self) -> None:
        """Raises UserError for what cannot be tuned so: options, lengths past a finite table,
        extensions.
        """
        self.parent.check_tuned()
        _ = self.run, self.batches
        extended, _ = self._extended(self.parent.model("meta"))
        try:
            extended.where(torch.zeros(1, self.length, dtype=torch.long))
            self.tuning.adapt(extended)
        except OutOfRange as error:
            raise UserError(
                f"finetune.factor={self.factor:g}: windows of {self.length} tokens, but {error}"
            ) from None
        except ValueError as error:
            raise UserError(f"finetune.{error}") from None
        whole = sum(p.numel() for p in extended.parameters())
        tuned = sum(p.numel() for p in extended.parameters() if p.requires_grad)
        remedy = (
            "tune fewer of them with finetune=lora and a small finetune.rank, or a smaller model"
        )
        check_memory(tuned, whole - tuned, remedy)
        if devices.processes(self.parent.trainer) > 1 and not self.parent.run.trained:
            option, _, value = self.choice.partition("=")
            remedy = "on several devices train it first, by itself"
            raise untrained(self.parent.run, option, value, remedy)


def smaller(part: Mapping[str, Any], share: float) -> dict[str, Any]:
    """A part of a mixture with that share of its windows, at least one; what is absent stays so."""
    return dict(part) | {
        "size": max(1, round(part["size"] * share)) if part["size"] > 0 else part["size"]
    }
