"""Stage evaluate: the evaluations of a job, and the rows of the unfinished ones."""

import os
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, cast

import pandas as pd
import torch

from extrap.extensions.base import Reader
from extrap.model.fitting import full
from extrap.model.gpt import GPT
from extrap.model.inspection import InspectedModel
from extrap.model.parts import has
from extrap.results import left_out, rows
from extrap.runs.checkpoint import curve_rows
from extrap.runs.folder import digest, not_trained_yet
from extrap.runs.identity import as_before, identity_hash
from extrap.runs.job import Job
from extrap.runs.layout import CURVE, DIRECT, USED, ResultFile
from extrap.runs.on_device import OnDevice
from extrap.runs.source import Source
from extrap.runs.study import Entry
from extrap.runs.training.meter import Meter, most_memory
from extrap.tasks.base import AtLengths, Diagnostic, Result, Task
from extrap.tasks.diagnosis.effective import frequency_rows
from extrap.tasks.scoring.checked import checked
from extrap.tasks.scoring.recorder import Recorder
from extrap.utils import atomic, lock, versions
from extrap.utils.errors import UserError
from extrap.utils.paths import repository
from extrap.utils.progress import FILE, Progress

SHORT = 64
"""Tokens of a text in which a model shows that it does not look ahead, whatever the tasks."""
MASK = "a hook must mask what at.visible does"
PLAIN = {"_target_": "extrap.extensions.direct.Direct"}


def planned(job: Job) -> dict[str, str]:
    """Returns every evaluation of a job, with the hash of its configuration."""
    before = [CURVE] * bool(job.training) + [USED] * _reports_used(job)
    return {task: config_hash(job, task) for task in [*before, *job.task_names]}


def _reports_used(job: Job) -> bool:
    """True under an extension, and for a checkpoint, which may bring a scaling of its own."""
    return job.source.published or job.config["extension"] != PLAIN


def config_hash(job: Job, task: str) -> str:
    """Returns the hash of the identity of one evaluation."""
    return identity_hash(identity(job, task))


def identity(job: Job, task: str) -> dict[str, Any]:
    """Returns the identity of one evaluation: run, extension, options of the task, study; and the
    content of a file that the task reads.
    """
    options = job.config["task"].get(task, {})
    found = {
        "run": job.run.identity,
        "extension": PLAIN if task == CURVE else as_before(job.config["extension"]),
        "task": options,
        "study": job.study,
    }
    file = file_of(options)
    # the task names other problems
    if file is not None and os.path.isfile(file) and os.access(file, os.R_OK):
        found["file"] = digest(file)
    beside = job.source.reference
    if beside is not None and task in job.tasks and job.tasks[task].asks == "reference":
        found["reference"] = beside
    return found


def file_of(options: Any) -> Path | None:
    """Returns the file that a task reads by its options, None without one."""
    path = options.get("path") if isinstance(options, dict) else None
    return Path(os.path.expanduser(path)) if isinstance(path, str) else None


def entry(job: Job, command: str = "") -> Entry:
    """Returns the job as its study lists it."""
    tasks = {} if job.stage == "train" else planned(job)
    parent = job.trainings[0].run.name if len(job.trainings) > 1 else ""
    return Entry(job.study, job.run.name, job.extension_stem, tasks, command, parent=parent)


def measured(job: Job) -> bool:
    """True if the rows of all tasks lie here under the hashes of this job, from any machine.

    It reads neither weights nor the commit of the rows. A diverged run has its curve alone. A
    damaged file counts as missing; a file that the study leaves out of git is not needed.
    """
    try:
        curve = _measured(job, CURVE) or []
        diverged = any(row["metric"] == "diverged_at" for row in curve)
        unkept = left_out.tasks(left_out.rules(job.results))
        needed = [task for task in planned(job) if task not in unkept]
        return diverged or all(_measured(job, task) is not None for task in needed)
    except UserError:
        return False


def _measured(job: Job, task: str) -> list[dict] | None:
    """Returns the rows of one task; None if there are none, or some are rows of another job."""
    sheet = entry(job).file(task).sheet
    if not sheet.exists():
        return None
    # a file without rows is whole, too: ALiBi has no rotary scores, and direct changes no frequency
    found = sheet.records()
    of_job = (job.run.name, config_hash(job, task))
    return found if all((row["run"], row["config"]) == of_job for row in found) else None


def evaluate(job: Job) -> None:
    """Writes the training curve and the rows of every unfinished task. A diverged run has its curve
    alone. Under an extension, its frequencies come first. Raises UserError if the run is not
    trained yet.
    """
    check_trained(job)
    job.run.check()
    if job.training is None:
        job.source.note()
    atomic.check_links(job.results)
    versions.check_rows(job.results)
    this = entry(job)
    with _current(job.source.device):
        for task, measure in evaluations(job).items():
            # the curve belongs to the run: a job under another extension may write it now, too
            note = this.file(CURVE).note
            with lock.alone(job.run.folder, note) if task == CURVE else nullcontext():
                if not this.finished(task):
                    _publish(job, task, measure, this.file(task))
    if job.run.state["state"] != "diverged":
        sheets = [this.file(task).sheet for task in planned(job)]
        job.dashboard.draw(sheets, job.config["plugins"])


def evaluations(job: Job) -> dict[str, Callable[[], Result]]:
    """Returns a function for each task of a trained run that measures it, in the order of
    `planned`; of a diverged run the curve alone. The models are made at the first use.
    """
    found: dict[str, Callable[[], Result]] = {}
    if job.training:
        found[CURVE] = lambda: Result(curve_rows(job.run))
    if job.run.state["state"] == "diverged":
        return found

    @cache
    def models() -> tuple[GPT, Reader]:
        if not job.source.published:
            plain = trained_model(job)
            extended = job.extension(plain)
            check_readers(job, plain, extended)
            return plain, extended
        try:
            with Progress("load", beats=True):
                plain = trained_model(job)
            with Progress("check", beats=True) as progress:
                job.source.check_reading(plain, _lengths(job), progress)
            extended = job.extension(plain)
            check_readers(job, plain, extended)
            return plain, extended
        except Exception as error:
            if not full(error):
                raise
            device = job.source.device
            problem = f"with its longest text it does not fit into the memory of {device}"
            raise UserError("model", job.label, problem, job.source.less) from error

    if _reports_used(job):
        found[USED] = lambda: Result(_used_rows(job.source, *models()))
    return found | {
        name: partial(_measure, job, name, task, models) for name, task in job.tasks.items()
    }


def _lengths(job: Job) -> set[int]:
    """Returns the lengths of the texts that tasks read, as far as the options name them."""
    found = {min(job.source.length, SHORT)}
    for task in job.tasks.values():
        if isinstance(task, AtLengths) and not isinstance(task, Diagnostic):
            found |= {*task.lengths(job.source.length)}
    return found


def check_readers(job: Job, plain: GPT, extended: Reader) -> None:
    """Raises UserError if the code of a plug-in makes a reader that is no language model in texts
    as long as those of the tasks; extrap.runs.validate reads a short text before the training.
    """
    if not job.config["plugins"]:
        return
    from extrap.pretrained.causal import CAUSAL, fault

    readers: dict[str, Reader] = {} if job.source.published else {"scheme": plain}
    if extended is not plain and not job.extension.looks_ahead:
        readers["extension"] = extended
    for option, reader in readers.items():
        if isinstance(reader, GPT) and has(reader.scheme, "looks_ahead"):
            continue  # extrap.runs.validate leaves out tasks that would score later tokens
        with Progress("check", beats=True) as progress:
            found = fault(reader, job.source.device, _lengths(job), progress)
        if found:
            remedy = MASK if found.remedy == CAUSAL else found.remedy
            raise UserError(option, job.choices[option], found.problem, remedy)


def measured_rows(job: Job) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Measures every task of a job and writes nothing. Returns the rows as `rows.read` does, and
    the items of each evaluation by its hash. Raises UserError if the run is not trained yet.
    """
    check_trained(job)
    job.run.check()
    found, items = [], {}
    with _current(job.source.device):
        for task, measure in evaluations(job).items():
            result = measure()
            found.append(rows.as_read(completed(job, task, result)))
            if result.items:
                items[config_hash(job, task)] = rows.items_as_read(result.items)
    return pd.concat(found, ignore_index=True), items


def _current(device: torch.device) -> AbstractContextManager[None]:
    """Returns a context in which a GPU is the one that clocks, meters and kernels of torch mean."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def check_trained(job: Job) -> None:
    """Raises UserError if the run is not trained yet."""
    if not job.run.trained:
        assert job.training is not None  # a checkpoint without a training counts as trained
        verb = job.training.verb
        remedy = f"{verb} it with stage=train or stage=all"
        raise not_trained_yet(job.run, "stage", job.stage, remedy, verb.removesuffix("e") + "ed")


def _measure(job: Job, name: str, task: Task, models: Callable[[], tuple[GPT, Reader]]) -> Result:
    # outside inference mode: weights made inside carry no gradients
    plain, extended = models()
    source, diagnostic = job.source, isinstance(task, Diagnostic)

    def untrained(layers: int | None = None) -> GPT:
        return cast(GPT, job.extension(source.untrained(layers)))

    with torch.inference_mode(not diagnostic), Progress(name, beats=True) as shown:
        model = (
            InspectedModel(cast(GPT, extended), plain, untrained)
            if diagnostic
            else OnDevice(extended, source.device, source.less)
        )
        on_gpu = source.device.type == "cuda"

        def told(done: int, total: int) -> None:
            shown(done, total, memory=most_memory(on_gpu))

        result = task.run(model, job.setting_of(task), told)
    result = checked(result, name, task.run)
    if isinstance(model, OnDevice) and model.lost:
        result = result.lost(min(model.lost))  # of a task that compares an argmax by itself
    # nobody knows the data of a checkpoint
    return result if source.published or _taught(job, task) else result.not_trained()


def _taught(job: Job, task: Task) -> bool:
    """True if the run was trained on data that the task is learned from."""
    if task.learned_from is None:
        return True
    mixtures = [training.batches.mixture for training in job.trainings]
    parts = chain.from_iterable(mixture.parts.values() for mixture in mixtures)
    return any(isinstance(part, task.learned_from) for part in parts)


def _publish(job: Job, task: str, measure: Callable[[], Result], file: ResultFile) -> None:
    """Runs one task. The note that the task is finished comes after the rows."""
    job.show()
    meter = Meter(_gpus(job))
    result = measure()
    found = completed(job, task, result)
    versions.claim_rows(job.results)
    for path in (file.items, file.rows, job.run.done(file.note)):
        atomic.sweep(path.parent, f".{path.name}.*.tmp")
    if result.items:
        rows.write_items(file.items, result.items)
    rows.write(file.rows, found)
    job.run.mark_evaluated(file.note, config_hash(job, task), file.rows, meter.cost().plain())
    job.dashboard.log(task, found)


def _gpus(job: Job) -> int:
    """Returns the number of GPUs that an evaluation holds. It uses one; a sweep keeps all devices
    of a job for it.
    """
    if job.source.device.type != "cuda":
        return 0
    return max(1, job.source.trainer.gpus) if FILE in os.environ else 1


def completed(job: Job, task: str, result: Result) -> list[dict]:
    """Returns the rows of a task with the columns that say which run it measured."""
    common = {
        "run": job.run.name,
        "study": job.study,
        "scheme": job.label,
        "data": job.trained_on,
        "seed": job.run.seed,
        "train_length": job.source.length,
        "task": task,
        "params": job.source.params,
        "corpus": job.source.corpus.sha256[:12],
        "config": config_hash(job, task),
        "commit": commit(),
    }
    if task == CURVE:
        return [common | {"extension": DIRECT, "factor": 1.0} | row for row in result.rows]
    L = job.source.length
    common["extension"] = job.extension_name
    found = []
    measured = job.tasks.get(task)
    for row in result.rows:
        length = row.get("length") or L
        read = measured.reads_at_once(row, L) if isinstance(measured, AtLengths) else length
        factor = job.extension.effective(read, L)
        found.append(common | {"factor": factor} | row)
    return found


def trained_model(job: Job) -> GPT:
    """Returns the trained model without the extension, in evaluation mode on its device."""
    source = job.source
    if job.training is None:
        return source.loaded
    return source.trained(job.run).eval().to(source.device)


def _used_rows(source: Source, model: GPT, extended: Reader) -> list[dict]:
    """Returns the frequencies of the extended model and, of a checkpoint, `extrap layers` as rows
    of protocol `layers`. Several windows of a model have no frequencies.
    """
    rows = frequency_rows(model.scheme, extended.scheme) if isinstance(extended, GPT) else []
    recorder = Recorder()
    for row in source.layers(model):
        layer = recorder.at(protocol="layers", length=model.scheme.shape.length, layer=row["layer"])
        for metric in ("pairs", "channels", "base", "window", "chunk", "sink"):
            if row[metric]:
                layer.value(metric, float(row[metric]))
    return rows + recorder.result().rows


@cache
def commit() -> str:
    """Returns the commit of extrap, + after changes of code or conf; without git, its version."""
    root = repository()
    if root is None or not (root / ".git").exists():  # git would look for one in folders above
        return version("extrap")

    def git(*words: str) -> str:
        command = ["git", *words]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    try:
        changed = git("status", "--porcelain", "--", "extrap", "conf")
        return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return version("extrap")
