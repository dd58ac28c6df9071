"""What people see of a running sweep: one live line on a terminal, a plain line per start and end
elsewhere, and a list at the end.
"""

import shutil
import sys
import time
from typing import Protocol

from extrap.cli.sweep.process import Process, State


class Status(Protocol):
    def started(self, job: Process) -> None: ...

    def ended(self, job: Process) -> None: ...

    def tick(self) -> None: ...

    def stopping(self) -> None: ...

    def close(self) -> None: ...


def status(jobs: list[Process], n_jobs: int) -> Status:
    """The kind that suits stderr."""
    return Live(jobs, n_jobs) if sys.stderr.isatty() else Lines(jobs)


class Lines:
    """For logs and pipes."""

    def __init__(self, jobs: list[Process]) -> None:
        self._jobs = jobs

    def started(self, job: Process) -> None:
        self._say(job, "start", f"log: {job.log}")

    def ended(self, job: Process) -> None:
        said = "another process works on it" if job.state is State.HELD else clock(job.seconds)
        self._say(job, job.state.value, said + (f": {job.reason}" if job.reason else ""))

    def tick(self) -> None:
        pass

    def stopping(self) -> None:
        pass

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
        self._draw(
            "waiting for the jobs to finish what they are writing; Ctrl-C again ends them at once"
        )

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
    parts += [f"{clock(left)} left" for left in [time_left(jobs, n_jobs)] if left is not None]
    return " | ".join(
        [", ".join(parts)]
        + [f"{job.label}: {_doing(job)}" for job in jobs if job.state is State.RUNNING]
    )


def _doing(job: Process) -> str:
    said = job.progress()
    if not said:
        return "starting"
    share = f" {100 * said['done'] // said['total']} %" if said["total"] else ""
    return f"{said['phase']}{share}" + (f" {said['note']}" if said["note"] else "")


def time_left(jobs: list[Process], n_jobs: int) -> float | None:
    """Seconds, from the mean duration of the jobs that are done; None before the first."""
    done = [job.seconds for job in jobs if job.state is State.DONE]
    if not done:
        return None
    mean, now = sum(done) / len(done), time.monotonic()
    running = [max(mean - (now - job.began), 0.0) for job in jobs if job.state is State.RUNNING]
    waiting = mean * sum(job.state in (State.WAITING, State.HELD) for job in jobs)
    return max([(sum(running) + waiting) / n_jobs, *running])


def summary(jobs: list[Process], seconds: float) -> str:
    """The list at the end: counts, then each job that makes no sense and each failed one, with its
    reason; the latter with its log.
    """
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
            (
                f"{len(jobs)} job{'s' if len(jobs) != 1 else ''} in {clock(seconds)}: "
                f"{', '.join(count)}"
            ),
            *senseless,
            *failed,
        ]
    )


def clock(seconds: float) -> str:
    """`4:07`, `1:04:07`"""
    minutes, s = divmod(round(seconds), 60)
    hours, m = divmod(minutes, 60)
    return f"{hours}:{m:02}:{s:02}" if hours else f"{m}:{s:02}"
