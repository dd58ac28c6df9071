"""Stage evaluate: rows of a trained run, one CSV per task. What is finished is not measured again."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path

import torch
from torch import Tensor

from extrap import rows
from extrap.errors import UserError
from extrap.job import Job
from extrap.progress import Progress
from extrap.runs import fingerprint, read_json
from extrap.task import Model, Result, Task

CURVE = "train"
"""The training curve stands among the rows as a task of this name."""


def evaluate(job: Job) -> None:
    """Writes the training curve and the rows of every task that is not finished. A diverged run has a curve and no more.

    Raises UserError where the run is not trained yet.
    """
    if not job.run.trained:
        raise UserError(f"stage=evaluate: {job.run.name} is not trained yet; train it with stage=train or stage=all")
    _publish(job, CURVE, lambda: Result(_curve_rows(job)))
    if job.run.state["state"] == "diverged":
        return
    reader = cache(lambda: _reader(job))
    for name, task in job.tasks.items():
        _publish(job, name, partial(_measure, job, name, task, reader))


def _measure(job: Job, name: str, task: Task, reader: Callable[[], Model]) -> Result:
    with torch.inference_mode(), Progress(name) as progress:
        return task.run(reader(), job.corpus, job.vocabulary, job.length, progress)


@dataclass(frozen=True)
class Sheet:
    """Where the rows of one (run, extension, task) lie, and under which configuration they were measured."""

    job: Job
    task: str

    @property
    def name(self) -> str:
        return f"{self.job.run.name}__{self.job.extension_name}__{self.task}"

    @property
    def rows(self) -> Path:
        return self.job.results / "rows" / f"{self.name}.csv"

    @property
    def items(self) -> Path:
        return self.job.results / "items" / f"{self.name}.csv"

    @property
    def note(self) -> str:
        return f"{self.job.study}__{self.job.extension_name}__{self.task}"

    @property
    def config(self) -> str:
        options = self.job.config["task"].get(self.task, {})
        said = {"run": self.job.run.identity, "extension": self.job.config["extension"], "task": options, "study": self.job.study}
        return fingerprint(said)

    @property
    def finished(self) -> bool:
        return self.job.run.evaluated(self.note, self.config, self.rows)


def evaluated(job: Job) -> bool:
    """Whether nothing is left to measure."""
    tasks = [] if job.run.state.get("state") == "diverged" else list(job.tasks)
    return all(Sheet(job, task).finished for task in (CURVE, *tasks))


def _publish(job: Job, task: str, measure: Callable[[], Result]) -> None:
    """Runs one task unless its rows are there already; rows first, then the note that says they are finished."""
    sheet = Sheet(job, task)
    if sheet.finished:
        return
    job.start_dashboard()
    result = measure()
    common = {
        "run": job.run.name, "study": job.study, "scheme": job.label, "data": job.data_name, "extension": job.extension_name,
        "factor": job.extension.factor, "seed": job.run.seed, "train_length": job.length, "task": task, "params": job.params,
        "corpus": job.corpus.sha256[:12], "config": sheet.config, "commit": commit(),
    }  # fmt: skip
    found = [common | row for row in result.rows]
    if result.items:
        rows.write_items(sheet.items, result.items)
    rows.write(sheet.rows, found)
    job.run.mark_evaluated(sheet.note, sheet.config, sheet.rows)
    job.dashboard.log(task, found)


def _reader(job: Job) -> Model:
    """The trained model under its extension, in evaluation mode on the device of the trainer. Weights are data, never code."""
    model = job.model()
    model.load_state_dict(torch.load(job.run.weights, map_location="cpu", weights_only=True))
    device = torch.device("cuda" if job.trainer.get("accelerator") in ("gpu", "cuda") else "cpu")
    extended = job.extension(model.eval().to(device))

    def read(tokens: Tensor, last: int | None = None) -> Tensor:
        return extended(tokens.to(device), last=last)

    return read


def _curve_rows(job: Job) -> list[dict]:
    """Points of the training curve, and the first step whose running retrieval accuracy reaches 90 %."""
    status = "diverged" if job.run.state["state"] == "diverged" else "ok"
    points = read_json(job.run.folder / "curve.json")["points"]
    out = []
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


def commit() -> str:
    """The commit of the program, with + where its code or configuration differs from it; the version where there is no git."""
    here = Path(__file__).parent

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", here, *words], capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--", ".", "../conf")
        return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return version("extrap")
