"""Fine-tuning: a training that begins with the weights of another run, its parent.

The tuned run has an identity of its own: the identity of the parent, the options of tuning, the
data, and the extension as tuning sets it. It keeps the weights of the plain model, so that an
extension with any factor can use them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor, nn

from extrap.data.mixture import Batches
from extrap.extensions.base import Extension
from extrap.model.scheme import OutOfRange
from extrap.runs.build import build
from extrap.runs.choices import changed, describe_data, node
from extrap.runs.folder import Run, not_trained_yet
from extrap.runs.fresh import Fresh
from extrap.runs.identity import as_before
from extrap.runs.source import Source
from extrap.runs.training.finetune import Tuning
from extrap.runs.training.optim import Optim
from extrap.utils.errors import NotApplicable, UserError

if TYPE_CHECKING:
    from extrap.model.gpt import GPT

DATA = "data@finetune.data"
UNNAMED = ("data", "factor", "log_every", "save_every")
"""Options of tuning that the label of a run does not list."""


@dataclass(frozen=True)
class FineTuned:
    """The training of a model on longer windows, with an extension in place.

    Args:
        source: the model before
        parent: its training, None for a published checkpoint
        extension, extension_name: the extension of the job, and its name in rows; the others as in
            Fresh
    """

    source: Source
    parent: Fresh | None
    extension: Extension
    extension_name: str

    verb: ClassVar[str] = "tune"

    @property
    def options(self) -> Mapping[str, Any]:
        return self.source.config["finetune"]

    @cached_property
    def tuning(self) -> Tuning:
        options = {name: value for name, value in self.options.items() if name != "data"}
        return build(options, "finetune", self.source.config["plugins"], Tuning)

    @property
    def dtype(self) -> torch.dtype:
        return self.source.dtype

    @cached_property
    def optim(self) -> Optim:
        return self.source.optimiser(self.tuning.own)

    @cached_property
    def factor(self) -> float:
        """The train factor s: windows have s x L tokens. Raises UserError if nothing gives it, and
        for an extension of shorter windows.
        """
        extension, factor = self.extension, self.tuning.factor
        factor = extension.tuned_at if factor is None else factor
        if factor is None and (factor := own_factor(extension, self.source.length)) is None:
            problem = f"extension={self.source.choices['extension']} follows the length of the text"
            raise UserError("finetune.factor", None, problem, "give finetune.factor=4, say")
        if factor < 1 and self.extension_name != "direct":
            problem = f"windows shorter than in training, and extension={self.extension_name}"
            raise UserError("finetune.factor", factor, problem, "give extension=direct")
        return float(factor)

    @property
    def length(self) -> int:
        return round(self.factor * self.source.length)

    @cached_property
    def extension_options(self) -> dict[str, Any]:
        """The extension during tuning, at the train factor unless it has its own windows."""
        options, extension = self.source.config["extension"], self.extension
        own = extension.tuned_at is not None or own_factor(extension, self.source.length) is None
        return options if own else with_factor(options, self.factor)

    @cached_property
    def data(self) -> dict[str, Any]:
        """The mixture in longer and fewer windows a step, with text and vocabulary of training."""
        if (given := self.options.get("data")) is not None:
            self._check_data(given)
        share = 1 / self.factor if self.tuning.batch is None else self.tuning.batch
        data = (given or self.source.config["data"]) | self.source.reads | {"length": self.length}
        parts = _smaller(data, share) | {"lengths": None, "spread": False}
        if (tokens := data.get("tokens")) is not None:
            parts["tokens"] = max(1, round(tokens * share * self.factor))
        if isinstance(more := data.get("more"), Mapping):
            parts["more"] = _smaller(more, share)
        return parts

    def _check_data(self, given: Mapping[str, Any]) -> None:
        """Raises UserError for a text or a vocabulary of tuning, which extrap would not read."""
        choices, config = self.source.choices, self.source.config
        for name in ("corpus", "vocabulary"):
            usual = node(f"data/{name}", choices.get(f"data/{name}@finetune.data.{name}", ""))
            if given.get(name) not in (usual, config["data"][name]):
                problem = f"tuning takes data.{name} of training"
                raise UserError(f"finetune.data.{name}", problem=problem, remedy="leave it out")

    @cached_property
    def batches(self) -> Batches:
        """The batch of every step; the curriculum is over."""
        source, after = self.source, self.parent.optim.steps if self.parent else 1
        try:
            mixture = source.mixture_of(self.data)
        except UserError as error:
            if self.options.get("data") is not None:
                option, remedy = f"finetune.{error.option}", error.remedy
                raise UserError(option, error.value, error.problem, remedy) from None
            problem = f"windows of {self.length} tokens; {error}"
            raise UserError("finetune.factor", f"{self.factor:g}", problem) from None
        return Batches(mixture, source.corpus, source.seed, self.optim.steps, after=after)

    @cached_property
    def label(self) -> str:
        """`rope-full-yarn-x4`: parent, method, changed options, extension, train factor."""
        source, method = self.source, self.source.choices["finetune"]
        options = {name: value for name, value in self.options.items() if name not in UNNAMED}
        own = changed(options, node("finetune", method), source.config["plugins"])
        changes = [f"{key}-{value}" for key, value in own.items()]
        names = [source.label, method, *changes, source.choices.get(DATA) or ""]
        names += [self.extension_name, f"x{self.factor:g}"]
        return re.sub(r"[^A-Za-z0-9._]+", "-", "-".join(filter(None, names)))

    @cached_property
    def run(self) -> Run:
        source = self.source
        recipe = {name: v for name, v in self.options.items() if name not in (*UNNAMED, "batch")}
        identity = {
            "parent": source.run.identity,
            "finetune": recipe,
            "factor": self.factor,
            "extension": as_before(self.extension_options),
            "data": describe_data(self.data),
            **source.about_tuning,
        }
        about = {"parent": source.run.name, "train_factor": self.factor, "steps": self.optim.steps}
        return Run(self.label, identity, source.seed, about)

    def begin(self) -> "GPT":
        """Returns the extended parent, before tuning. Raises UserError if the parent diverged."""
        source = self.source
        if source.run.state.get("state") == "diverged":
            problem = f"{source.run.name} diverged, so its weights cannot be tuned"
            method, remedy = source.choices["finetune"], "train it with other options"
            raise UserError("finetune", method, problem, remedy)
        extended, _ = self._extended(source.trained(source.run))
        torch.manual_seed(source.seed + 2_000_003)
        self.tuning.adapt(extended)
        return extended

    def end(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        plain = self.source.trained(self.source.run).to(self.source.dtype)
        before, tuned = plain.state_dict(), self.tuning.merge(weights)
        names = self._extended(plain)[1]
        found = {names[name]: tensor for name, tensor in tuned.items() if name in names}
        for name, tensor in before.items():  # a tied head has the tensor of the embedding
            own = next((one for one in found if before[one].data_ptr() == tensor.data_ptr()), None)
            if own is not None:
                found[name] = found[own]
        return self.tuning.kept(before | found, plain)

    def _extended(self, model: "GPT") -> tuple["GPT", dict[str, str]]:
        """Returns the extended model, and the name of each of its parameters in the plain one."""
        from extrap.model.gpt import GPT

        source = self.source
        extension = build(self.extension_options, "extension", source.config["plugins"], Extension)
        names = shared(model)
        extended = extension(model)
        name, method = source.choices["extension"], source.choices["finetune"]
        if not isinstance(extended, GPT):
            problem = f"gives a way of reading, and finetune={method} tunes models"
            raise NotApplicable("extension", name, problem, "evaluate it with finetune=none")
        plain = {name: names.get(id(p)) for name, p in extended.named_parameters()}
        if None in plain.values():
            problem = "brings parameters of its own, which the weights of the plain model lack"
            raise NotApplicable("extension", name, problem)
        return extended, plain  # type: ignore[return-value]

    def check(self) -> None:
        """Raises UserError for options, lengths or extensions that cannot work."""
        source = self.source
        source.check_tuned()
        _ = self.run, self.batches
        extended, _ = self._extended(source.model("meta"))
        try:
            extended.where(torch.zeros(1, self.length, dtype=torch.long))
            self.tuning.adapt(extended)
        except OutOfRange as error:
            problem = f"windows of {self.length} tokens, but {error}"
            raise UserError("finetune.factor", f"{self.factor:g}", problem) from None
        except ValueError as error:
            raise UserError(f"finetune.{error}") from None
        frozen = sum(p.numel() for p in extended.parameters() if not p.requires_grad)
        tuned = sum(p.numel() for p in extended.parameters()) - frozen
        remedy = "tune fewer of them with finetune=lora, or a smaller model"
        source.check_memory(tuned, frozen, remedy)
        if source.trainer.processes > 1 and not source.run.trained:
            remedy = "on several devices train it first, by itself"
            raise not_trained_yet(source.run, "finetune", source.choices["finetune"], remedy)


Training = Fresh | FineTuned
"""From the first weights of a model to the weights that its run keeps."""


def _smaller(parts: Mapping[str, Any], share: float) -> dict[str, Any]:
    """Returns the options of a mixture; each part has that share of its windows, at least one."""
    found = dict(parts)
    for name, part in parts.items():
        if isinstance(part, Mapping) and part.get("size", 0) > 0:
            found[name] = dict(part) | {"size": max(1, round(part["size"] * share))}
    return found


def own_factor(extension: Extension, length: int) -> float | None:
    """Returns the factor of an extension; None if it follows the length of the text. Raises
    UserError for an option that does not fit the training length.
    """
    try:
        factor = extension.effective(length, length)
    except ValueError as error:
        raise UserError(f"extension.{error}") from None
    return factor if extension.effective(1000 * length, length) == factor else None


def with_factor(options: Mapping[str, Any], factor: float) -> dict[str, Any]:
    """Returns the options of an extension, and of extensions inside it, with another factor."""
    set_for = {"factor": factor} if options.get("factor") is not None else {}
    return {
        key: with_factor(value, factor) if isinstance(value, Mapping) else value
        for key, value in options.items()
    } | set_for


class Shared(nn.Parameter):
    """A parameter that copies of a model share."""

    def __deepcopy__(self, memo: dict) -> "Shared":
        return self


def shared(model: nn.Module) -> dict[int, str]:
    """Makes the parameters of a model shared, in place; returns their names by id, by which they
    are found in copies, where an extension may have moved them into a stack. One that several
    modules have, as a tied head, stays one.
    """
    before = list(model.parameters())
    made = {id(p): Shared(p.data, p.requires_grad) for p in before}
    for module in model.modules():
        for name, p in list(module.named_parameters(recurse=False)):
            setattr(module, name, made[id(p)])
    return {id(p): name for name, p in model.named_parameters()}
