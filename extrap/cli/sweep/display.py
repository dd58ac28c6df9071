"""The view of a running sweep: one live line on a terminal, a plain line per start and end
elsewhere, and a list at the end.
"""

import shutil
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from extrap.cli.sweep.process import Process, State
from extrap.runs.study import standing
from extrap.utils.errors import printable
from extrap.utils.progress import MINUTE, MOST, clock, words

ENOUGH = 30
"""Steps of training after which their pace says how long a sweep will take."""
TRAININGS = ("train", "tune")
"""Phases that train."""
LARGEST = 1e15
"""Upper bound of steps, tokens and seconds in a progress file, which others may have written."""
KNOWN = 10
"""Finished jobs from which the time of a sweep is foreseen."""
STOPPING = "waiting for the jobs to finish what they are writing; Ctrl-C again ends them at once"


class Status:
    """The view of a running sweep.

    Args:
        live: one line that is drawn over itself, for a terminal; else a line for each start and
            end, and one a minute between them
        foretells: a line of its own says how long the sweep will train, once a pace is known
    """

    def __init__(
        self, jobs: list[Process], n_jobs: int = 1, live: bool = False, foretells: bool = False
    ) -> None:
        self._jobs, self.n_jobs, self._live, self._foretells = jobs, n_jobs, live, foretells
        self._next = 0.0 if live else time.monotonic() + MINUTE
        self._numbers = {id(job): number for number, job in enumerate(jobs, 1)}
        self._told: set[str] = set()

    def started(self, job: Process) -> None:
        if self._live:
            self.now()
            return self.tick()
        where = f"on {job.where}, " if job.devices else ""
        self._say(f"{self._number(job)} start {job.label}  ({where}log: {job.entry.log})")

    def queued(self, job: Process) -> None:
        """Says that a cluster has put a job into its queue again."""
        self._say(f"{self._number(job)} queued again {job.label}  ({job.queue})")

    def now(self) -> None:
        """Makes the next tick print."""
        self._next = 0.0

    def ended(self, job: Process) -> None:
        reason = f": {job.reason}" if job.reason else ""
        if not self._live:
            held = job.state is State.HELD
            detail = "another process works on it" if held else clock(job.seconds)
            self._say(f"{self._number(job)} {job.state.value} {job.label}  ({detail}{reason})")
        elif job.state is State.FAILED:
            self._say(f"failed {job.label}{reason}\n")
        if self._live:
            self.now()

    def tick(self) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + (0.5 if self._live else MINUTE)
            if self._foretells and (said := by_pace(self._jobs, self.n_jobs)) is not None:
                self._foretells = False
                self._say(f"extrap: {said}" + "\n" * self._live)
            self._tell()
            width = shutil.get_terminal_size().columns - 1 if self._live else None
            self._say(line(self._jobs, self.n_jobs)[:width])

    def _tell(self) -> None:
        """Says what running jobs want to be known, such as a training of more than a day, each line
        once, by the first job that has it.
        """
        for job in self._jobs:
            told = job.progress().get("told") if job.state is State.RUNNING else None
            if isinstance(told, str) and told not in self._told:
                self._told.add(told)
                self._say(f"{job.label}: {printable(told)}" + "\n" * self._live)

    def stopping(self) -> None:
        self._say(STOPPING if self._live else f"extrap: {STOPPING}")

    def close(self) -> None:
        if self._live:
            self._say("")

    def _number(self, job: Process) -> str:
        return f"[{self._numbers[id(job)]}/{len(self._jobs)}]"

    def _say(self, text: str) -> None:
        text, end = (f"\r\x1b[2K{text}", "") if self._live else (text, "\n")
        print(text, end=end, file=sys.stderr, flush=True)


def line(jobs: list[Process], n_jobs: int) -> str:
    """`3/14 done, 1 skipped, 1 failed, 4:10 left | scheme=rope: train 45 % | scheme=t5:
    nll 10 %`
    """
    count = Counter(job.state for job in jobs)
    parts = [f"{count[State.DONE]}/{len(jobs)} done"]
    parts += [
        f"{count[state]} {state.value}"
        for state in (State.SKIPPED, State.FAILED, State.HELD)
        if count[state]
    ]
    queue = Counter(job.queue for job in jobs if job.state is State.WAITING and job.queue)
    parts += [f"{n} in the queue ({reason})" for reason, n in queue.items()]
    if (left := time_left(jobs, n_jobs)) is not None:
        pace = "" if count[State.DONE] else " by the pace of the first steps"
        parts.append(f"{clock(left)} left{pace}")
    return " | ".join(
        [", ".join(parts)]
        + [f"{_placed(job)}: {_doing(job)}" for job in jobs if job.state is State.RUNNING]
    )


def _placed(job: Process) -> str:
    """`scheme=rope on GPU 3`"""
    return f"{job.label} on {job.where}" if job.devices else job.label


def _doing(job: Process) -> str:
    """`train 45 % loss 2.1`"""
    state = job.progress()
    return " ".join(words(state | {"left": None, "device": ""})) if state else "starting"


def time_left(jobs: list[Process], n_jobs: int) -> float | None:
    """Seconds, from the mean duration of the jobs that are done, before the first from the pace of
    the running ones; None before their 30th step.
    """
    now = time.monotonic()
    paces = [_pace(job, now) for job in jobs if job.state is State.RUNNING]
    whole = [job.before + job.seconds for job in jobs if job.state is State.DONE]
    whole = whole or [spent + rest for spent, rest in paces if rest is not None]
    if not whole:
        return None
    mean = sum(whole) / len(whole)
    left = [max(mean - spent, 0.0) for spent, _ in paces]
    waiting = mean * sum(job.state in (State.WAITING, State.HELD) for job in jobs)
    return max([(sum(left) + waiting) / n_jobs, *left])


def foreseen(jobs: Sequence[Process], n_jobs: int) -> str | None:
    """Returns a line about the time that a sweep will take, by its jobs that ended before it:
    `36 jobs, 8 side by side, about 5:00:00 by 10 finished ones`. None if no such job says what it
    took.
    """
    left = [job for job in jobs if job.state is State.WAITING]
    ended = [job for job in jobs if job.state is State.SKIPPED and not job.reason]
    took = [standing(job.entry).seconds for job in ended[:KNOWN]]
    known = [seconds for seconds in took if seconds is not None]
    if not (left and known):
        return None
    whole = clock(sum(known) / len(known) * len(left) / min(n_jobs, len(left)))
    count = f"{len(left)} job{'s' * (len(left) > 1)}, {min(n_jobs, len(left))} side by side"
    return f"{count}, about {whole} by {len(known)} finished one{'s' * (len(known) > 1)}"


def by_pace(jobs: Sequence[Process], n_jobs: int) -> str | None:
    """Returns a line about the time that a sweep will train, by the pace of its running jobs: `36
    jobs, 8 side by side, about 5:00:00 by the rate of the first steps, without evaluation`. None
    before their 30th step, and once a job is done.
    """
    due = [job for job in jobs if job.state in (State.WAITING, State.HELD, State.RUNNING)]
    trains = any(
        job.progress().get("phase") in TRAININGS for job in due if job.state is State.RUNNING
    )
    ended = any(job.state is State.DONE for job in jobs)
    if ended or not trains or (left := time_left(due, n_jobs)) is None:
        return None
    count = f"{len(due)} job{'s' * (len(due) > 1)}, {min(n_jobs, len(due))} side by side"
    return f"{count}, about {clock(left)} by the rate of the first steps, without evaluation"


def _pace(job: Process, now: float) -> tuple[float, float | None]:
    """Returns (seconds that a running job has taken, seconds to the end of its phase). The second
    is an estimate from the pace of its first steps, and None before these. Steps of earlier
    attempts count as seconds at the same pace.
    """
    own, report = now - job.began, job.progress()
    done, total, rest = (_number(report.get(name)) for name in ("done", "total", "left"))
    if done is None or rest is None or done < ENOUGH or not 0 < rest < MOST:
        return job.before + own, None
    if total is not None and done < total:
        job.before = max(job.before, rest * done / (total - done) - own)
    return job.before + own, rest


def _number(value: Any) -> float | None:
    """Returns a number of a progress file; None for another type or a number that overflows."""
    return value if type(value) in (int, float) and 0 <= value < LARGEST else None


def summary(jobs: Sequence[Process], seconds: float) -> str:
    """Returns the list at the end: the commands that show the rows, counts, then each job that
    makes no sense and each failed job with its reason, a failed job with its log.
    """
    studies = dict.fromkeys(job.entry.study for job in jobs if job.entry.tasks)
    ended = Counter(job.state for job in jobs)
    states = (State.DONE, State.SKIPPED, State.FAILED)
    count = ", ".join(f"{ended[state]} {state.value}" for state in states)
    lines = [
        f"rows: results/{name}/rows; extrap plot {name} draws, extrap table {name} prints"
        for name in studies
    ]
    lines.append(f"{len(jobs)} job{'s' if len(jobs) != 1 else ''} in {clock(seconds)}: {count}")
    for state in (State.SKIPPED, State.FAILED):
        for job in jobs:
            if job.state is state and (job.reason or state is State.FAILED):
                lines.append(f"  {state.value} {job.label}: {job.reason}")
                lines += [f"         {job.entry.log}"] if state is State.FAILED else []
    return "\n".join(lines)
