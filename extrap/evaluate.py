"""Stage evaluate: rows of a trained run, one CSV per task. What is finished is not measured again."""

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path

import torch
from torch import Tensor

from extrap import atomic, rows, schema
from extrap.checkpoint import trained_curve, trained_weights
from extrap.errors import UserError
from extrap.extension import Reader
from extrap.glass import Glass
from extrap.gpt import GPT
from extrap.job import Job
from extrap.progress import Progress
from extrap.runs import fingerprint
from extrap.task import Diagnostic, Model, Result, Task
from extrap.used import used

CURVE = "train"
"""The training curve stands among the rows as a task of this name; it belongs to the run, whatever the extension."""

USED = "used"
"""The frequencies and biases that an extension put in force, as a task of this name."""

PLAIN = "direct", {"_target_": "extrap.extensions.direct.Direct"}


def evaluate(job: Job) -> None:
    """Writes the training curve and the rows of every task that is not finished. A diverged run has a curve and no more.

    Under an extension other than `direct`, what it put in force comes first.

    Raises UserError where the run is not trained yet.
    """
    if not job.run.trained:
        done, do = ("trained", "train") if job.tuned is None else ("tuned", "tune")
        raise UserError(f"stage=evaluate: {job.run.name} is not {done} yet; {do} it with stage=train or stage=all")
    job.run.check()
    atomic.check_links(job.results)
    schema.check_rows(job.results)
    _publish(job, CURVE, lambda: Result(_curve_rows(job)))
    if job.run.state["state"] == "diverged":
        return
    model = cache(lambda: _models(job))
    if _extended(job):
        _publish(job, USED, lambda: Result(_used_rows(*model())))
    for name, task in job.tasks.items():
        _publish(job, name, partial(_measure, job, name, task, model))
    job.dashboard.draw([Sheet(job, task).rows for task in planned(job)])


def _measure(job: Job, name: str, task: Task, models: Callable[[], tuple[GPT, Reader]]) -> Result:
    plain, extended = models()  # outside inference mode: weights that are made in it carry no gradients
    diagnostic = isinstance(task, Diagnostic)
    with torch.inference_mode(not diagnostic), Progress(name) as progress:
        model = Glass(extended, plain, job.untrained) if diagnostic else _reader(job, extended)
        return task.run(model, job.corpus, job.vocabulary, job.length, progress)


@dataclass(frozen=True)
class Sheet:
    """Where the rows of one (run, extension, task) lie, and under which configuration they were measured."""

    job: Job
    task: str

    @property
    def extension(self) -> tuple[str, dict]:
        """Name in files, and configuration."""
        return PLAIN if self.task == CURVE else (self.job.extension_stem, self.job.config["extension"])

    @property
    def name(self) -> str:
        return f"{self.job.run.name}__{self.extension[0]}__{self.task}"

    @property
    def rows(self) -> Path:
        return self.job.results / "rows" / f"{self.name}.csv"

    @property
    def items(self) -> Path:
        return self.job.results / "items" / f"{self.name}.csv"

    @property
    def note(self) -> str:
        return f"{self.job.study}__{self.extension[0]}__{self.task}"

    @property
    def config(self) -> str:
        options = self.job.config["task"].get(self.task, {})
        said = {"run": self.job.run.identity, "extension": self.extension[1], "task": options, "study": self.job.study}
        return fingerprint(said)

    @property
    def finished(self) -> bool:
        return self.job.run.evaluated(self.note, self.config, self.rows)


def evaluated(job: Job) -> bool:
    """Whether nothing is left to measure."""
    tasks = [CURVE] if job.run.state.get("state") == "diverged" else planned(job)
    return all(Sheet(job, task).finished for task in tasks)


def planned(job: Job) -> dict[str, str]:
    """Everything that is measured of a job, with the hash of its configuration."""
    return {task: Sheet(job, task).config for task in (CURVE, *([USED] if _extended(job) else []), *job.task_names)}


def _extended(job: Job) -> bool:
    return job.config["extension"] != PLAIN[1]


def _publish(job: Job, task: str, measure: Callable[[], Result]) -> None:
    """Runs one task unless its rows are there already; rows first, then the note that says they are finished."""
    sheet = Sheet(job, task)
    if sheet.finished:
        return
    job.start_dashboard()
    began = time.perf_counter()
    result = measure()
    common = {
        "run": job.run.name, "study": job.study, "scheme": job.label, "data": job.data_name, "seed": job.run.seed,
        "train_length": job.length, "task": task, "params": job.params, "corpus": job.corpus.sha256[:12], "config": sheet.config,
        "commit": commit(),
    }  # fmt: skip
    found = [common | _extension_of(job, task, row) | row for row in result.rows]
    schema.claim_rows(job.results)
    for path in (sheet.items, sheet.rows):
        atomic.sweep(path.parent, f".{path.name}.*.tmp")
    if result.items:
        rows.write_items(sheet.items, result.items)
    rows.write(sheet.rows, found)
    job.run.mark_evaluated(sheet.note, sheet.config, sheet.rows, time.perf_counter() - began)
    job.dashboard.log(task, found)


def _extension_of(job: Job, task: str, row: dict) -> dict:
    """Which extension a row is about, and its factor at the length of the row."""
    if task == CURVE:
        return {"extension": PLAIN[0], "factor": 1.0}
    return {"extension": job.extension_name, "factor": job.extension.effective(row.get("length") or job.length, job.length)}


def trained_model(job: Job) -> GPT:
    """The trained model as it is, in evaluation mode on the device of the trainer. Weights are data, never code."""
    model = job.model()
    model.load_state_dict(trained_weights(job.run, model))
    return model.eval().to(_device(job))


def _models(job: Job) -> tuple[GPT, Reader]:
    """Plain and extended."""
    model = trained_model(job)
    return model, job.extension(model)


def _device(job: Job) -> torch.device:
    return torch.device("cuda" if job.trainer.get("accelerator") in ("gpu", "cuda") else "cpu")


def _reader(job: Job, extended: Reader) -> Model:
    def read(tokens: Tensor, last: int | None = None) -> Tensor:
        return extended(tokens.to(_device(job)), last=last)

    return read


def _used_rows(model: GPT, extended: Reader) -> list[dict]:
    """A reader that is no model puts nothing in force."""
    return used(model.scheme, extended.scheme) if isinstance(extended, GPT) else []


def _curve_rows(job: Job) -> list[dict]:
    """Points of the training curve, and the first step whose running retrieval accuracy reaches 90 %."""
    status = "diverged" if job.run.state["state"] == "diverged" else "ok"
    points, out = trained_curve(job.run), []
    for point in points:
        for name, value in point.items():
            if name != "step":
                part, metric = name.split("/")
                out.append({"protocol": part, "metric": metric, "axis": "step", "at": point["step"], "value": value, "status": status})
    if status == "diverged":
        out.append({"metric": "diverged_at", "value": job.run.state["steps"], "status": status})
    learned = [p["step"] for p in points if p.get("retrieval/accuracy", 0) >= 0.9]
    if learned:
        out.append({"protocol": "retrieval", "metric": "steps_to_90", "value": learned[0], "status": status})
    return out


@cache
def commit() -> str:
    """The commit of the program, looked at once: with + where its code or configuration differs from it; the version without git."""
    here = Path(__file__).parent

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", here, *words], capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--", ".", "../conf")
        return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return version("extrap")
