"""What is checked before any work starts, so that a mistake costs seconds: every option, the size
of a model before it is built, every name of a file, every task, every pair of model and extension.
"""

import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.scheme import Scheme
from extrap.runs.build import build
from extrap.runs.choices import node
from extrap.runs.folder import fingerprint
from extrap.runs.probe import check_scheme
from extrap.tasks.base import Diagnostic
from extrap.utils.errors import NotApplicable, UserError
from extrap.utils.packed import memory
from extrap.utils.paths import conf_dir

if TYPE_CHECKING:
    from extrap.runs.job import Job

STEM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._,=+-]{0,99}")
# characters of a file's name without its ending; file systems take 255 bytes, and what is being
# written has a longer name
LONGEST = 220
BYTES = 16  # of a parameter in training: itself, its gradient, two moments, float32
FROZEN = 4  # of one that is not trained
SMALLER = "give a smaller model.dim, model.layers or data.vocabulary"
_PROBED: set[str] = set()  # fingerprints of schemes that this process has tried out


def check(job: "Job") -> None:
    """Raises UserError for anything that cannot work, and warns of tasks that are left out."""
    _ = job.optim, job.corpus, job.extension, job.trainer, job.dashboard
    if not job.published:
        _ = job.batches
        check_memory(job.params)
        _probe(job, fingerprint([job.config["scheme"], job.config["model"], job.length]))
    _names(job)
    if job.unasked:
        warnings.warn(
            f"task=[{','.join(job.task_names)}]: options of {', '.join(job.unasked)} are left "
            "aside",
            UserWarning,
            stacklevel=1,
        )
    for error in job.refused.values():
        warnings.warn(f"{error}; the other tasks are asked", UserWarning, stacklevel=1)
    _pair(job)
    if job.tuned is not None:
        job.tuned.check()


def check_model(options: Any) -> None:
    """Raises UserError for what is no set of options of a GPT: missing, unknown, of another type,
    out of bounds.
    """
    if not isinstance(options, Mapping) or not options:
        raise UserError(
            f"model={options}: must be the options of a model; choose one of conf/model, such as "
            "model=tiny"
        )
    if missing := sorted({field.name for field in fields(Decoder)} - set(options)):
        raise UserError(
            f"model.{missing[0]}: missing; give it, or choose one of conf/model, such as model=tiny"
        )
    build(dict(options) | {"_target_": "extrap.model.decoder.Decoder"}, "model")


def check_memory(params: int, frozen: int = 0, remedy: str = SMALLER) -> None:
    """Raises UserError for a model that cannot be trained in the memory of this machine. frozen:
    parameters that are not trained; remedy: what to do.
    """
    need = BYTES * params + FROZEN * frozen
    have = memory()
    if need > have:
        raise UserError(
            f"model: {params + frozen:,} parameters need {need / 2**30:,.0f} GiB in training and "
            f"this machine has {have / 2**30:,.0f}; {remedy}"
        )


def _probe(job: "Job", once: str) -> None:
    """Raises UserError for a scheme that cannot be trained; jobs of a sweep that share a scheme
    share the probe, too.
    """
    if once not in _PROBED:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # advice is given where the model is built for good
            model = job.model()
        check_scheme(model, job.choices["scheme"])
        _PROBED.add(once)


def _names(job: "Job") -> None:
    """Raises UserError for choices that would not make one name of a file below the folders of runs
    and results.
    """
    for option, value in (("data", job.data_name), ("extension", job.extension_stem)):
        if not STEM.fullmatch(value):
            raise UserError(
                f"{option}={value}: its name and changed options become names of files; use fewer "
                "of them, and no slashes"
            )
    for task in job.task_names:
        most = max(
            len(f"{name}__{job.extension_stem}__{task}") for name in (job.study, job.run.name)
        )
        if most > LONGEST:
            raise UserError(
                f"label={job.label} study={job.study} task.{task}: a file name of {most} "
                "characters; shorten one"
            )


def _pair(job: "Job") -> None:
    """Raises NotApplicable, with what works instead, for an extension that makes no sense on the
    scheme.
    """
    model, name = job.model("meta"), job.choices["extension"]
    try:
        extended = job.extension(model)
    except NotApplicable as error:
        if line := _mistaken(job.extension_options, error):
            raise UserError(line) from None
        raise NotApplicable(
            f"extension={name}: {error.why}", partial(_instead, job, model)
        ) from None
    inside = [name for name, task in job.tasks.items() if isinstance(task, Diagnostic)]
    if inside and not isinstance(model, GPT):
        raise NotApplicable(
            f"task={inside[0]}: looks inside a model, and this one is read through transformers, "
            "logits alone; leave the task out"
        )
    if inside and not isinstance(extended, GPT):
        raise NotApplicable(
            f"task={inside[0]}: looks inside a model, and extension={name} reads with several "
            "windows of one; leave one of the two out"
        )
    if isinstance(extended, GPT) and _looks_ahead(extended):
        _scores_the_last_alone(job, name)


def _looks_ahead(model: GPT) -> bool:
    return any(isinstance(p, Scheme) and p.looks_ahead for p in model.scheme.modules())


def _scores_the_last_alone(job: "Job", extension: str) -> None:
    """Raises NotApplicable for a task, or a tuning, on tokens inside a text."""
    why = f"tokens inside a text, and under extension={extension} they depend on later ones"
    if inner := [name for name, task in job.tasks.items() if task.inner]:
        raise NotApplicable(f"task={inner[0]}: scores {why}; leave the task out")
    if job.tuned is not None:
        raise NotApplicable(f"finetune={job.choices['finetune']}: trains on {why}; leave it out")


def _mistaken(options: Iterable[str], error: NotApplicable) -> str:
    """The line about an option that was changed and that the method cannot take; "" where it is the
    scheme that it cannot. options: those that were changed, nested ones as `first.b`.
    """
    said = error.why.partition(": ")[2]
    named = re.match(r"(\w+)[=:]", said)
    at = [o for o in options if named and o.split(".")[-1] == named[1]]
    return f"extension.{at[0]}{said[named.end(1) :]}" if named and at else ""


def _instead(job: "Job", model: GPT) -> str:
    group = "model" if job.published else "scheme"
    return (
        f"with {group}={job.choices[group]} work "
        f"{', '.join(applicable(model, job.config['plugins']))}"
    )


def applicable(model: GPT, plugins: Iterable[str] = ()) -> list[str]:
    """Names of the extensions, as their files have them, that the model takes. It may be one
    without storage (device meta).
    """
    return [
        path.stem
        for path in sorted((Path(conf_dir()) / "extension").glob("*.yaml"))
        if _takes(model, path.stem, plugins)
    ]


def _takes(model: GPT, name: str, plugins: Iterable[str]) -> bool:
    try:
        build(node("extension", name), "extension", plugins)(model)
    except NotApplicable:
        return False
    return True
