"""Jobs of a sweep as tasks of a Ray cluster, which starts a task again if its node is lost.

The nodes share the working folder, and have extrap installed. The disk decides: a task that starts
again goes on where the run stopped.
"""

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from extrap.cli.sweep.display import Status
from extrap.cli.sweep.node import free
from extrap.cli.sweep.pool import TICK
from extrap.cli.sweep.process import Process, State
from extrap.runs.layout import RUNS
from extrap.runs.study import Entry

PAUSE = 1.0
"""Seconds between two looks at the tasks."""
LEAST, MOST = 1.0, 10.0
"""Seconds between two looks at the disk for jobs that have begun; each wait is longer."""


@dataclass(frozen=True)
class Work:
    """A call on a node, to which it travels as a pickle. folder: the working folder."""

    label: str
    command: list[str]
    entry: Entry
    folder: str

    def __call__(self) -> tuple[str, str]:
        """Runs the job. Returns its state, held if another process does it, and why it failed."""
        os.chdir(self.folder)
        job = Process(self.label, self.command, self.entry)
        while job.state in (State.WAITING, State.HELD):
            if job.state is State.HELD and not free(self.entry):
                break
            job.start()
            while not job.ended():
                time.sleep(TICK)
        if job.state is State.FAILED:
            job.fail(job.reason)
        return job.state.value, job.reason


def run(
    ray: Any,
    jobs: list[Process],
    retries: int,
    status: Status,
    nodes: Sequence[dict[str, Any]] = (),
) -> None:
    """Gives jobs to the cluster that `ray` is connected to, and returns when all have ended.

    nodes: as `ray.nodes()` lists them.
    """
    call = ray.remote(_called)
    left = {}
    for job in jobs:
        work = Work(job.label, job.command, job.entry, os.getcwd())
        needs = {"num_cpus": cores(nodes, job), "num_gpus": job.gpus}
        left[call.options(**needs, max_retries=retries).remote(work)] = job
        job.began = time.monotonic()
    pause, look = LEAST, time.monotonic()
    while left:
        ended, _ = ray.wait(list(left), timeout=PAUSE)
        for reference in ended:
            _end(ray, reference, left.pop(reference), status)
        if time.monotonic() >= look:
            _see(left.values(), status)
            pause = min(MOST, pause * 1.5)
            look = time.monotonic() + pause
        status.n_jobs = max(1, sum(job.state is State.RUNNING for job in left.values()))
        status.tick()


def cores(nodes: Iterable[dict[str, Any]], job: Process) -> int:
    """Returns the cores to ask for: those of its workers only as far as a node has them, as they
    share what there is.
    """
    least = job.processes * job.threads
    sizes = [node.get("Resources", {}) for node in nodes if node.get("Alive")]
    most = max((size.get("CPU", 0) for size in sizes if size.get("GPU", 0) >= job.gpus), default=0)
    return max(least, min(job.cores, int(most)))


def unheld(nodes: Iterable[dict[str, Any]], jobs: Sequence[Process]) -> str | None:
    """Returns a line about jobs that no node of a cluster can hold, None without one: Ray lets them
    wait for a larger node, and says nothing. nodes: as `ray.nodes()` lists them.
    """
    sizes = [node.get("Resources", {}) for node in nodes if node.get("Alive")]
    large = [job for job in jobs if not _held(sizes, job)]
    if not large:
        return None
    most = max(job.processes * job.threads for job in large)
    gpus = max(job.gpus for job in large)
    jobs_wait = "1 job waits" if len(large) == 1 else f"{len(large)} jobs wait"
    return f"{jobs_wait} for a node that this cluster lacks (at most cores {most}, GPUs {gpus})"


def _held(sizes: Iterable[dict[str, float]], job: Process) -> bool:
    """True if a node of one of these sizes can hold a job."""
    least = job.processes * job.threads
    return any(size.get("CPU", 0) >= least and size.get("GPU", 0) >= job.gpus for size in sizes)


def _called(work: Work) -> tuple[str, str]:
    return work()


def _end(ray: Any, reference: Any, job: Process, status: Status) -> None:
    job.seconds = time.monotonic() - job.began
    try:
        state, job.reason = ray.get(reference)
        job.state = State(state)
    except ray.exceptions.RayError as error:
        job.fail(f"Ray: {_reason(error)}")
    status.ended(job)


def _reason(error: Exception) -> str:
    """Returns why a task failed: an error on its node, whose own text begins with a traceback, or a
    node that was lost more often than `retries`.
    """
    cause = getattr(error, "cause", None)
    if isinstance(cause, Exception):
        return " ".join(f"{type(cause).__name__}: {cause}".split())
    return str(error).splitlines()[0]


def _see(jobs: Iterable[Process], status: Status) -> None:
    """Shows the jobs that report progress as running; those without a run folder have not begun."""
    begun = {path.name for path in RUNS.iterdir()}
    for job in jobs:
        if job.state is State.WAITING and job.entry.run in begun and job.progress():
            job.state = State.RUNNING
            status.started(job)
