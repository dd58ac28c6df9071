"""A fine-tuned run: a run of its own that begins with the weights of another, its parent.

Its identity is that of the parent, the options of tuning, the data, and the extension as it stands while tuning; like any run it is
named by that and its seed. What is saved are the weights of the plain model, for an extension with any factor to read with.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from extrap import devices
from extrap.applicable import changed, node
from extrap.build import build
from extrap.checkpoint import trained_weights
from extrap.data.mixture import Batches, Mixture
from extrap.errors import NotApplicable, UserError
from extrap.extension import Extension
from extrap.finetune import Tuning
from extrap.gpt import GPT
from extrap.in_place import own_factor, shared, with_factor
from extrap.optim import Optim
from extrap.runs import Run
from extrap.scheme import OutOfRange

if TYPE_CHECKING:
    from extrap.job import Job

DATA = "data@finetune.data"


class Tuned:
    """The training of a job with a choice of `finetune`; train.py asks a job without one for the same: run, optim, batches, begin, end."""

    def __init__(self, job: "Job"):
        self.job, self.options, self.choice = job, job.config["finetune"], f"finetune={job.choices['finetune']}"

    @cached_property
    def parent(self) -> "Job":
        """The job that the weights come from: the same without tuning and extension."""
        job = self.job
        plain = {"finetune": None, "extension": node("extension", "direct"), "stage": "train"}
        names = {"finetune": "none", "extension": "direct"}
        return type(job)(job.config | plain, job.choices | names, lambda source: job.corpus)

    @cached_property
    def tuning(self) -> Tuning:
        options = {name: value for name, value in self.options.items() if name != "data"}
        return build(options, "finetune", self.job.config["plugins"], Tuning)

    @cached_property
    def optim(self) -> Optim:
        return self.tuning.optim(self.job.config["train"])

    @cached_property
    def factor(self) -> float:
        """The train factor: tuned on windows of factor x L tokens. Raises UserError where neither option says it."""
        factor = self.tuning.factor
        if factor is None and (factor := own_factor(self.job.extension, self.job.length)) is None:
            name = self.job.choices["extension"]
            raise UserError(f"finetune.factor=null: extension={name} follows the length of the text; give finetune.factor=4, say")
        return float(factor)

    @property
    def length(self) -> int:
        return round(self.factor * self.job.length)

    @cached_property
    def extension_options(self) -> dict[str, Any]:
        """The extension while tuning: that of the job, set for the train factor."""
        options = self.job.config["extension"]
        return options if own_factor(self.job.extension, self.job.length) is None else with_factor(options, self.factor)

    @cached_property
    def data(self) -> dict[str, Any]:
        """The mixture at the length of tuning, with fewer windows a step. Its text and vocabulary are those of training."""
        ours, given = self.job.config["data"], self.options.get("data")
        if given is not None:
            self._check_data(given)
        share = 1 / self.factor if self.tuning.batch is None else self.tuning.batch
        data = (given or ours) | {"corpus": ours["corpus"], "vocabulary": ours["vocabulary"], "length": self.length}
        parts = {name: smaller(part, share) for name, part in data.items() if isinstance(part, Mapping) and "size" in part}
        more = {name: smaller(part, share) for name, part in (data.get("more") or {}).items()}
        return data | parts | ({"more": more} if more else {})

    def _check_data(self, given: Mapping[str, Any]) -> None:
        """Raises UserError for a text or a vocabulary of its own, which would be left unread."""
        for name in ("corpus", "vocabulary"):
            usual = node(f"data/{name}", self.job.choices.get(f"data/{name}@finetune.data.{name}", ""))
            if given.get(name) not in (usual, self.job.config["data"][name]):
                raise UserError(f"finetune.data.{name}: tuning reads what training read; give data.{name} alone")

    @cached_property
    def batches(self) -> Batches:
        mixture = build(self.data, "data", self.job.config["plugins"], Mixture)
        return Batches(mixture, self.job.corpus, self.job.seed, self.optim.steps, after=self.parent.optim.steps)

    @cached_property
    def label(self) -> str:
        """Of the parent, then method, extension and train factor: `rope-full-yarn-x4`; options that differ from their files between."""
        options = {name: value for name, value in self.options.items() if name not in ("data", "factor", "log_every", "save_every")}
        own = changed(options, node("finetune", self.job.choices["finetune"]), self.job.config["plugins"])
        said = [self.job.choices["finetune"], *(f"{key}-{value}" for key, value in own.items()), self.job.choices.get(DATA) or ""]
        said = [self.parent.label, *filter(None, said), self.job.extension_name, f"x{self.factor:g}"]
        label = re.sub(r"[^A-Za-z0-9._]+", "-", "-".join(said))
        if len(label) > 80:
            raise UserError(f"label={self.parent.label}: the tuned run {label} has more than 80 characters; give a shorter one")
        return label

    @property
    def _said(self) -> dict[str, Any]:
        """What no other part of the identity says."""
        return {name: value for name, value in self.options.items() if name not in ("data", "factor", "batch")}

    @cached_property
    def run(self) -> Run:
        said = {"parent": self.parent.run.identity, "finetune": self._said, "factor": self.factor}
        identity = said | {"extension": self.extension_options, "data": self.job.described(self.data)}
        about = {"parent": self.parent.run.name, "train_factor": self.factor, "steps": self.optim.steps}
        return Run(self.label, identity, self.job.seed, about)

    def begin(self) -> GPT:
        """The parent's weights with the extension in place, ready to be tuned. Raises UserError where the parent diverged."""
        if self.parent.run.state.get("state") == "diverged":
            raise UserError(f"{self.choice}: {self.parent.run.name} diverged, there is nothing to tune; train it with other options")
        model = self.parent.model()
        model.load_state_dict(trained_weights(self.parent.run, model))
        extended, _ = self._in_place(model)
        torch.manual_seed(self.job.seed + 2_000_003)
        self.tuning.adapt(extended)
        return extended

    def end(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The weights of the plain model from those that were tuned."""
        plain = self.parent.model("meta")
        names, tuned = self._in_place(plain)[1], self.tuning.merge(weights)
        return trained_weights(self.parent.run, plain) | {names[name]: tensor for name, tensor in tuned.items() if name in names}

    def _in_place(self, model: GPT) -> tuple[GPT, dict[str, str]]:
        """The extended model, and the name that each of its parameters has in the plain one."""
        extension = build(self.extension_options, "extension", self.job.config["plugins"], Extension)
        names = shared(model)
        extended = extension(model)
        asked = f"extension={self.job.choices['extension']} {self.choice}"
        if not isinstance(extended, GPT):
            raise NotApplicable(f"{asked}: it is a way of reading, not a model to tune; evaluate it on finetune=none")
        found = {name: names.get(id(p)) for name, p in extended.named_parameters()}
        if None in found.values():
            raise NotApplicable(f"{asked}: it brings parameters of its own, for which the plain model has no place")
        return extended, found  # type: ignore[return-value]

    def check(self) -> None:
        """Raises UserError for what cannot be tuned so: options, lengths past a finite table, extensions."""
        _ = self.run, self.batches
        extended, _ = self._in_place(self.parent.model("meta"))
        try:
            extended.where(torch.zeros(1, self.length, dtype=torch.long))
            self.tuning.adapt(extended)
        except OutOfRange as error:
            raise UserError(f"finetune.factor={self.factor:g}: windows of {self.length} tokens, but {error}") from None
        except ValueError as error:
            raise UserError(f"finetune.{error}") from None
        if devices.processes(self.job.trainer) > 1 and not self.parent.run.trained:
            raise UserError(f"{self.choice}: {self.parent.run.name} is not trained yet; on several devices train it first, by itself")


def smaller(part: Mapping[str, Any], share: float) -> dict[str, Any]:
    """A part of a mixture with that share of its windows, at least one; what is absent stays so."""
    return dict(part) | {"size": max(1, round(part["size"] * share)) if part["size"] > 0 else part["size"]}
