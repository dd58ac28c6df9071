"""The checks before any work starts."""

import re
import warnings
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from extrap.extensions.direct import Direct
from extrap.model.attention import kernel
from extrap.model.gpt import GPT
from extrap.model.parts import has, parts
from extrap.model.scheme import Scheme
from extrap.model.watched import watch
from extrap.runs.build import build
from extrap.runs.choices import node
from extrap.runs.finetuned import FineTuned
from extrap.runs.identity import fingerprint
from extrap.runs.job import Job
from extrap.runs.layout import CURVE, check_part
from extrap.tasks.base import Diagnostic
from extrap.utils.docs import docstring
from extrap.utils.errors import NotApplicable, UserError
from extrap.utils.paths import conf_dir
from extrap.utils.plugins import defined_at

STEM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._,=+-]{0,99}")
LONGEST = 220
"""Characters of a file's name without its ending; a file in writing has a longer name, of at most
255 bytes.
"""
TOKENS, CLOSE = 48, 1e-6
"""Tokens of the text that a scheme is tried on; the tolerance of two results."""
EACH = ("seed", "study", "label", "threads", "train", "logger")
"""Options that `check_own` or the making of a Job checks; the others make the kind of a job."""


def check(job: Job) -> None:
    """Raises UserError for anything that cannot work, and warns of tasks that are left out."""
    source = job.source
    job.check_source()
    source.check()
    check_own(job)
    _pair(job)
    if isinstance(job.training, FineTuned):
        job.training.check()
    if not source.published:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the final build of the model gives the advice
            model = source.model()
        check_symbols(model.scheme, source.vocabulary.values)
        check_scheme(model, job.choices["scheme"], job.config["plugins"])
    advice = source.advice(job.choices["extension"])
    if advice and not isinstance(job.extension, Direct):
        warnings.warn(advice, UserWarning, stacklevel=1)
    if job.unasked:
        left = f"options of {', '.join(job.unasked)} are left aside"
        warnings.warn(f"task=[{','.join(job.task_names)}]: {left}", UserWarning, stacklevel=1)
    for error in job.refused.values():
        warnings.warn(f"{error}; the other tasks are asked", UserWarning, stacklevel=1)


def check_symbols(scheme: Scheme, values: int) -> None:
    """Raises UserError for a part that takes other ids for values than the vocabulary does."""
    for part in parts(scheme):
        if part.symbols not in (None, values):
            who = f"its {type(part).__name__} takes the last {part.symbols} ids for values"
            problem = f"{who}, and data.vocabulary.values={values}"
            remedy = (
                "give both one number (ids is an option of the part, such as scheme.parts.0.ids)"
            )
            raise UserError("scheme", problem=problem, remedy=remedy)


def check_own(job: Job) -> None:
    """Raises UserError if jobs of one kind differ in an option, or a choice is no file name."""
    optimizers = {training.optim.optimizer for training in job.trainings}
    if "muon" in optimizers and job.source.trainer.strategy == "fsdp" and _trains(job):
        problem = "needs whole matrices, which shards do not have"
        raise UserError("train.optimizer", "muon", problem, "give trainer=ddp")
    for option, value in (("data", job.choices["data"]), ("extension", job.extension_stem)):
        if not STEM.fullmatch(value):
            problem = "its name and changed options become names of files"
            raise UserError(option, value, problem, "change fewer of them, without slashes")
    check_part("extension", job.extension_stem)
    for task in (CURVE, *job.task_names):
        for option, name in (("study", job.study), ("label", job.run.name)):
            if (most := len(f"{name}__{job.extension_stem}__{task}")) > LONGEST:
                problem = f"makes file names of {most} characters"
                raise UserError(option, name, problem, "give a shorter label")


def _trains(job: Job) -> bool:
    """True if the job trains its run."""
    return job.stage != "evaluate" and not job.run.trained


def kind(job: Job) -> str:
    """Returns a hash that jobs share if they differ in EACH alone: a check of one holds for all."""
    options = {name: value for name, value in job.config.items() if name not in EACH}
    return fingerprint([options, job.choices, job.source.run.identity["corpus"]])


def _pair(job: Job) -> None:
    """Raises NotApplicable if the extension does not suit the scheme, or a task the extension."""
    model, name = job.source.model("meta"), job.choices["extension"]
    before = _weights(model)
    try:
        extended = job.extension(model)
    except NotApplicable as error:
        if mistake := _mistaken(job.changed, error):
            raise mistake from None
        raise NotApplicable("extension", name, error.why, partial(_instead, job, model)) from None
    who = f"{type(job.extension).__name__}{defined_at(job.extension.__call__)}"
    if extended is model and not isinstance(job.extension, Direct):
        problem = f"{who} returned the model that it was given"
        raise UserError("extension", name, problem, "return a copy that it has extended")
    if _weights(model) != before:
        problem = f"{who} changed the model that it was given"
        raise UserError("extension", name, problem, "change a deepcopy of it")
    if not callable(extended) or isinstance(extended, Scheme):
        problem = f"{who} returned {type(extended).__name__}"
        remedy = "return a model; the method `extend` of a SchemeExtension returns a scheme"
        raise UserError("extension", name, problem, remedy)
    for task_name, task in job.tasks.items():
        if why := job.source.refuses(type(task)):
            _leave_out(why, [task_name])
    problem = ""
    if not isinstance(model, GPT):
        problem = "looks inside a model, and this one is read from outside, logits or answers alone"
    elif not isinstance(extended, GPT):
        problem = f"looks inside a model, and extension={name} reads with several windows of one"
    if problem:
        _leave_out(problem, [n for n, task in job.tasks.items() if isinstance(task, Diagnostic)])
    ahead = isinstance(extended, GPT) and has(extended.scheme, "looks_ahead")
    if ahead or job.extension.looks_ahead:
        problem = f"scores tokens that depend on later ones under extension={name}"
        _leave_out(problem, [n for n, task in job.tasks.items() if task.inner])
        if job.config["finetune"]:
            problem = f"trains on tokens that depend on later ones under extension={name}"
            raise NotApplicable("finetune", job.choices["finetune"], problem, "leave it out")


def _weights(model: torch.nn.Module) -> list[tuple[int, int]]:
    """Returns which tensors a model holds, and how often each was changed in place."""
    tensors = [*model.parameters(), *model.buffers()]
    return [(id(p), 0 if p.is_inference() else p._version) for p in tensors]


def _leave_out(problem: str, tasks: list[str]) -> None:
    if tasks:
        raise NotApplicable("task", tasks[0], problem, "leave the task out")


def _mistaken(options: Iterable[str], error: NotApplicable) -> UserError | None:
    """Returns the error about one of the changed options; None if the scheme is the reason."""
    problem = error.why.partition(": ")[2]
    named = re.match(r"(\w+)[=:]", problem)
    at = [o for o in options if named and o.split(".")[-1] == named[1]]
    return UserError(f"extension.{at[0]}{problem[named.end(1) :]}") if named and at else None


def _instead(job: Job, model: GPT) -> str:
    group, names = job.source.group, sorted((Path(conf_dir()) / "extension").glob("*.yaml"))
    working = [path.stem for path in names if _takes(model, path.stem, job.config["plugins"])]
    return f"with {group}={job.choices[group]} work {', '.join(working)}"


def _takes(model: GPT, name: str, plugins: Iterable[str]) -> bool:
    try:
        build(node("extension", name), "extension", plugins)(model)
    except NotApplicable:
        return False
    return True


@torch.no_grad()
def check_scheme(model: GPT, name: str, plugins: Iterable[str] = ()) -> None:
    """Raises UserError for a scheme with a hook that fails or returns a wrong shape, whose
    logits are not finite, that looks ahead, gives other logits for the same text, or has a kernel
    that does not compute its `attend`. Warns of a part that changes nothing. Tests check the
    schemes of extrap, this the schemes of plug-ins, in milliseconds.

    Args:
        model: has its parameters changed: initial values could hide a fault
        name: of the scheme
        plugins: the packages whose lines a message names
    """
    draws = torch.Generator().manual_seed(0)
    model = model.double().eval()
    shape = model.scheme.shape
    n = min(TOKENS, shape.length)
    text = torch.randint(0, shape.vocab, (1, n), generator=draws)
    half = n // 2
    other = text.clone()
    other[:, half:] = (other[:, half:] + 1) % shape.vocab
    acted, broken = watch(model.scheme, name, plugins)
    if not model(text).isfinite().all():
        who = (broken or sorted(acted) or ["it"])[0]
        problem = f"{who} makes NaN or infinite logits of a short text"
        raise UserError("scheme", name, problem, "return finite numbers; `sees` hides pairs")
    for p in model.scheme.parameters():  # only now: a hook need not take every number
        p.add_(0.3 * torch.randn(p.shape, generator=draws, dtype=p.dtype))
    logits = model(text)
    nope = all("Kind: none" in docstring(type(part)) for part in parts(model.scheme))
    if plugins and not acted and not nope:
        line = f"scheme={name}: no hook of it changes anything, as in scheme=nope"
        warnings.warn(line, UserWarning, stacklevel=1)
    if _apart(logits, model(text)):
        problem = "gives other logits when it reads the same text again"
        remedy = "outside training nothing of a scheme may be random"
        raise UserError("scheme", name, problem, remedy)
    if _apart(logits[:, :half], model(other)[:, :half]):
        problem = f"looks ahead, logits of the first {half} tokens depend on later ones"
        raise UserError("scheme", name, problem, "a hook must mask what at.visible does")
    at = model.where(text).at_layer(0, torch.randn(1, n, shape.dim, generator=draws).double())
    q, k, v = (
        torch.randn(1, heads, n, shape.head_dim, generator=draws).double()
        for heads in (shape.heads, shape.kv_heads or shape.heads, shape.kv_heads or shape.heads)
    )
    if shape.kv_heads in (None, shape.heads):
        computed = kernel(model.scheme, at)(model.scheme, q, k, v, at)
        if _apart(computed, model.scheme.attend(q, k, v, at)):
            problem = "its kernel computes something else than its `attend`"
            raise UserError("scheme", name, problem, "make its hooks agree with `attend`")


def _apart(a: Tensor, b: Tensor) -> bool:
    """True if two results differ by more than rounding. NaN agrees with NaN."""
    return not torch.allclose(a, b, rtol=CLOSE, atol=CLOSE, equal_nan=True)
