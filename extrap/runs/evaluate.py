"""Stage evaluate: rows of a trained run, one CSV per task. What is finished is not
measured again.
"""

import subprocess
import time
from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import cast

import torch
from torch import Tensor

from extrap.extensions.base import Reader
from extrap.model.gpt import GPT
from extrap.model.inspection import InspectedModel
from extrap.results import rows
from extrap.runs.checkpoint import trained_curve
from extrap.runs.job import Job
from extrap.runs.layout import CURVE, DIRECT, USED
from extrap.runs.near import untrained
from extrap.runs.planned import config_hash, finished, planned, reports_used, result_file
from extrap.tasks.base import Diagnostic, Result, Task, checked
from extrap.tasks.diagnosis.effective import frequency_rows
from extrap.utils import files as atomic
from extrap.utils import lock
from extrap.utils import versions as schema
from extrap.utils.errors import UserError
from extrap.utils.progress import Progress


def evaluate(job: Job) -> None:
    """Writes the training curve and the rows of every task that is not finished. A diverged run has
    a curve and no more.

    Under an extension other than `direct`, what it put in force comes first.

    Raises UserError where the run is not trained yet.
    """
    check_trained(job)
    job.run.check()
    if job.as_published:
        with job.run.alone():
            job.run.claim()
    atomic.check_links(job.results)
    schema.check_rows(job.results)
    if not job.as_published:
        # of the run, whatever the extension: others may evaluate it now, too
        with lock.alone(job.run.folder, result_file(job, CURVE).note):
            _publish(job, CURVE, lambda: Result(_curve_rows(job)))
    if job.run.state["state"] == "diverged":
        return
    model = cache(lambda: _models(job))
    if reports_used(job):
        _publish(job, USED, lambda: Result(_used_rows(*model())))
    for name, task in job.tasks.items():
        _publish(job, name, partial(_measure, job, name, task, model))
    files = [result_file(job, task).rows for task in planned(job)]
    job.dashboard.draw(files, job.config["plugins"])


def check_trained(job: Job) -> None:
    """Raises UserError where there is nothing to evaluate yet."""
    if not job.run.trained:
        verb = job.course.verb
        remedy = f"{verb} it with stage=train or stage=all"
        raise untrained(job.run, "stage", job.stage, remedy, verb.removesuffix("e") + "ed")


def _measure(job: Job, name: str, task: Task, models: Callable[[], tuple[GPT, Reader]]) -> Result:
    # outside inference mode: weights that are made in it carry no gradients
    plain, extended = models()
    diagnostic = isinstance(task, Diagnostic)
    with torch.inference_mode(not diagnostic), Progress(name) as progress:
        model = (
            InspectedModel(cast(GPT, extended), plain, job.untrained)
            if diagnostic
            else _Reader(extended, _device(job))
        )
        result = task.run(model, job.corpus, job.vocabulary_of(task), job.length, progress)
    result = checked(result, name)
    return result if _trained_for(job, task) else result.untrained()


def _trained_for(job: Job, task: Task) -> bool:
    """Whether the run was trained, or tuned, on the kind of data that the task is about."""
    if job.published:
        return True  # on text, and nobody knows on what else
    mixtures = (job.mixture, job.course.batches.mixture)
    parts = [part for mixture in mixtures for part in mixture.parts.values()]
    return task.learned_from is None or any(isinstance(part, task.learned_from) for part in parts)


def _publish(job: Job, task: str, measure: Callable[[], Result]) -> None:
    """Runs one task unless its rows are there already; rows first, then the note that says they are
    finished.
    """
    if finished(job, task):
        return
    file, config = result_file(job, task), config_hash(job, task)
    job.start_dashboard()
    began = time.perf_counter()
    result = measure()
    common = {
        "run": job.run.name,
        "study": job.study,
        "scheme": job.label,
        "data": job.trained_on,
        "seed": job.run.seed,
        "train_length": job.length,
        "task": task,
        "params": job.params,
        "corpus": job.corpus.sha256[:12],
        "config": config,
        "commit": commit(),
    }
    found = [common | _extension_of(job, task, row) | row for row in result.rows]
    schema.claim_rows(job.results)
    for path in (file.items, file.rows, job.run.done(file.note)):
        atomic.sweep(path.parent, f".{path.name}.*.tmp")
    if result.items:
        rows.write_items(file.items, result.items)
    rows.write(file.rows, found)
    job.run.mark_evaluated(file.note, config, file.rows, time.perf_counter() - began)
    job.dashboard.log(task, found)


def _extension_of(job: Job, task: str, row: dict) -> dict:
    """Which extension a row is about, and its factor at the length of the row."""
    if task == CURVE:
        return {"extension": DIRECT, "factor": 1.0}
    return {
        "extension": job.extension_name,
        "factor": job.extension.effective(row.get("length") or job.length, job.length),
    }


def trained_model(job: Job) -> GPT:
    """The trained model as it is, in evaluation mode on the device of the trainer. Weights are
    data, never code.
    """
    return job.base.trained(job.run).eval().to(_device(job))


def _models(job: Job) -> tuple[GPT, Reader]:
    """Plain and extended."""
    model = trained_model(job)
    return model, job.extension(model)


def _device(job: Job) -> torch.device:
    if job.trainer.get("accelerator") not in ("gpu", "cuda"):
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise UserError(
            f"trainer.accelerator={job.trainer['accelerator']}: no GPU here; "
            f"trainer=cpu trainer.precision={job.base.precision} evaluates the same run"
        )
    return torch.device("cuda")


class _Reader:
    """What tasks call: tokens of the CPU are read on the device of the trainer."""

    def __init__(self, extended: Reader, device: torch.device):
        self.extended = extended
        self.device = device
        if isinstance(extended, GPT):
            self.losses = self._losses

    def __call__(self, tokens: Tensor, last: int | None = None) -> Tensor:
        return self.extended(tokens.to(self.device), last=last)

    def _losses(self, tokens: Tensor, targets: Tensor) -> Tensor:
        assert isinstance(self.extended, GPT)
        return self.extended.losses(tokens.to(self.device), targets)


def _used_rows(model: GPT, extended: Reader) -> list[dict]:
    """A reader that is no model puts nothing in force."""
    return frequency_rows(model.scheme, extended.scheme) if isinstance(extended, GPT) else []


def _curve_rows(job: Job) -> list[dict]:
    """Points of the training curve, and the first step whose running retrieval accuracy reaches 90
    %.
    """
    status = "diverged" if job.run.state["state"] == "diverged" else "ok"
    points, out = trained_curve(job.run), []
    for point in points:
        for name, value in point.items():
            if name != "step":
                part, metric = name.split("/")
                out.append(
                    {
                        "protocol": part,
                        "metric": metric,
                        "axis": "step",
                        "at": point["step"],
                        "value": value,
                        "status": status,
                    }
                )
    if status == "diverged":
        out.append({"metric": "diverged_at", "value": job.run.state["steps"], "status": status})
    learned = [p["step"] for p in points if p.get("retrieval/accuracy", 0) >= 0.9]
    if learned:
        out.append(
            {
                "protocol": "retrieval",
                "metric": "steps_to_90",
                "value": learned[0],
                "status": status,
            }
        )
    return out


@cache
def commit() -> str:
    """The commit of the program, looked at once: with + where its code or configuration differs
    from it; the version without git.
    """
    here = Path(__file__).parents[1]

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", here, *words], capture_output=True, text=True, check=True
        ).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--", ".", "../conf")
        return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return version("extrap")
