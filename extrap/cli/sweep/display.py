"""What people see of a running sweep: one live line on a terminal, a plain line per start and end
elsewhere, and a list at the end.
"""

import shutil
import sys
import time
from collections.abc import Sequence
from typing import Any, Protocol

from extrap.cli.sweep.process import Process, State
from extrap.utils.progress import MINUTE, clock, seconds_left, share_of

STOPPING = "waiting for the jobs to finish what they are writing; Ctrl-C again ends them at once"


class Status(Protocol):
    def started(self, job: Process) -> None: ...

    def ended(self, job: Process) -> None: ...

    def tick(self) -> None: ...

    def stopping(self) -> None: ...

    def close(self) -> None: ...


def status(jobs: list[Process], n_jobs: int) -> Status:
    """The kind that suits stderr."""
    return Live(jobs, n_jobs) if sys.stderr.isatty() else Lines(jobs, n_jobs)


class Lines:
    """For logs and pipes: a line for each start and end, and one a minute between them."""

    def __init__(self, jobs: list[Process], n_jobs: int = 1) -> None:
        self._jobs, self._n_jobs, self._next = jobs, n_jobs, time.monotonic() + MINUTE

    def started(self, job: Process) -> None:
        self._say(job, "start", f"log: {job.log}")

    def ended(self, job: Process) -> None:
        detail = "another process works on it" if job.state is State.HELD else clock(job.seconds)
        self._say(job, job.state.value, detail + (f": {job.reason}" if job.reason else ""))

    def tick(self) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + MINUTE
            print(line(self._jobs, self._n_jobs), file=sys.stderr, flush=True)

    def stopping(self) -> None:
        print(f"extrap: {STOPPING}", file=sys.stderr, flush=True)

    def close(self) -> None:
        pass

    def _say(self, job: Process, what: str, rest: str) -> None:
        print(
            f"[{self._jobs.index(job) + 1}/{len(self._jobs)}] {what} {job.label}  ({rest})",
            file=sys.stderr,
            flush=True,
        )


class Live:
    """For a terminal: one line that is drawn over itself."""

    def __init__(self, jobs: list[Process], n_jobs: int) -> None:
        self._jobs, self._n_jobs, self._next = jobs, n_jobs, 0.0

    def started(self, job: Process) -> None:
        self._next = 0.0
        self.tick()

    def ended(self, job: Process) -> None:
        if job.state is State.FAILED:
            self._draw(f"failed {job.label}: {job.reason}\n")
        self._next = 0.0

    def tick(self) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + 0.5
            width = shutil.get_terminal_size().columns
            self._draw(line(self._jobs, self._n_jobs)[: width - 1])

    def stopping(self) -> None:
        self._draw(STOPPING)

    def close(self) -> None:
        self._draw("")

    def _draw(self, text: str) -> None:
        print(f"\r\x1b[2K{text}", end="", file=sys.stderr, flush=True)


def line(jobs: list[Process], n_jobs: int) -> str:
    """`3/14 done, 1 skipped, 1 failed, 4:10 left | scheme=rope: train 45 % | scheme=t5:
    nll 10 %`
    """
    count = {state: sum(job.state is state for job in jobs) for state in State}
    parts = [f"{count[State.DONE]}/{len(jobs)} done"]
    parts += [
        f"{count[state]} {state.value}"
        for state in (State.SKIPPED, State.FAILED, State.HELD)
        if count[state]
    ]
    if (left := time_left(jobs, n_jobs)) is not None:
        known = any(job.state is State.DONE for job in jobs)
        parts.append(f"{'' if known else 'over '}{clock(left)} left")
    return " | ".join(
        [", ".join(parts)]
        + [f"{job.label}: {_doing(job)}" for job in jobs if job.state is State.RUNNING]
    )


def _doing(job: Process) -> str:
    progress = job.progress()
    if not progress:
        return "starting"
    share = share_of(progress)
    words = [
        progress.get("phase"),
        share is not None and f"{int(100 * share)} %",
        progress.get("note"),
    ]
    return " ".join(str(word) for word in words if word)


def time_left(jobs: list[Process], n_jobs: int) -> float | None:
    """Seconds, from the mean duration of the jobs that are done.

    Before the first of them, from the pace of those that run, which is too little: what comes after
    the present phase of a job is not known yet. None before the first step.
    """
    now = time.monotonic()
    running = [job for job in jobs if job.state is State.RUNNING]
    whole = [job.seconds for job in jobs if job.state is State.DONE]
    if not whole:
        rest = ((job, seconds_left(job.progress())) for job in running)
        whole = [now - job.began + left for job, left in rest if left is not None]
    if not whole:
        return None
    mean = sum(whole) / len(whole)
    left = [max(mean - (now - job.began), 0.0) for job in running]
    waiting = mean * sum(job.state in (State.WAITING, State.HELD) for job in jobs)
    return max([(sum(left) + waiting) / n_jobs, *left])


def summary(jobs: list[Process], seconds: float, entries: Sequence[Any] = ()) -> str:
    """The list at the end: what shows the rows of these entries, counts, then each job that makes
    no sense and each failed one, with its reason; the latter with its log.
    """
    studies = dict.fromkeys(entry.study for entry in entries if entry and entry.tasks)
    count = [
        f"{sum(job.state is state for job in jobs)} {state.value}"
        for state in (State.DONE, State.SKIPPED, State.FAILED)
    ]
    senseless = [
        f"  skipped {job.label}: {job.reason}"
        for job in jobs
        if job.state is State.SKIPPED and job.reason
    ]
    failed = [
        f"  failed {job.label}: {job.reason}\n         {job.log}"
        for job in jobs
        if job.state is State.FAILED
    ]
    return "\n".join(
        [
            *(
                f"rows: results/{name}/rows; extrap-plot {name} draws, extrap-table {name} prints"
                for name in studies
            ),
            (
                f"{len(jobs)} job{'s' if len(jobs) != 1 else ''} in {clock(seconds)}: "
                f"{', '.join(count)}"
            ),
            *senseless,
            *failed,
        ]
    )
