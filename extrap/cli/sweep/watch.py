"""Waits for the jobs of a sweep in the queue of a cluster.

A job hands back a file with its outcome. The queue says which jobs wait and why, which run, and
which ended without a file: killed, cancelled, out of time, on a node that went down.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path

from extrap.cli.sweep import slurm
from extrap.cli.sweep.display import Status
from extrap.cli.sweep.process import HEAD, Process, State
from extrap.runs.folder import read_json

PAUSE = 1.0  # seconds between two looks at the folder of outcomes
LEAST, MOST = 1.0, 10.0  # seconds between two questions to the queue; each wait is longer
LATE = 60.0  # seconds that a shared disk may take to show a file

GONE = "left the queue"
ENDED = (
    "BOOT_FAIL",
    "CANCELLED",
    "DEADLINE",
    "FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "REVOKED",
    "TIMEOUT",
)
"""States of a job that ended and hands back no outcome; a job that SLURM queues again may pass
through one of them.
"""
FINISHED = ("COMPLETED", GONE)
"""States of a job whose outcome may not be visible yet."""
RUNNING = ("RUNNING", "COMPLETING", "STAGE_OUT", "SUSPENDED", "STOPPED", *FINISHED)


class Watch:
    """The jobs of a sweep in the queue, by number.

    Args:
        folder: the private folder of the sweep, in which jobs write their outcomes
    """

    def __init__(
        self,
        jobs: dict[str, Process],
        folder: Path,
        status: Status,
        states: Callable[[], dict[str, tuple[str, str]] | None] = slurm.states,
    ) -> None:
        self.jobs, self.folder, self.status, self.states = jobs, folder, status, states
        self._files = {f"{n}.json": number for n, number in enumerate(jobs)}
        self._left = dict(jobs)
        self._changed = 0  # time of change of the folder when it was last read
        self._over: dict[str, tuple[float, int]] = {}  # jobs that ended without an outcome
        self._reasons: set[str] = set()
        for job in jobs.values():
            job.began = time.monotonic()

    def wait(self) -> None:
        """Returns when every job has ended, each with its state and reason."""
        pause, ask = LEAST, time.monotonic()
        while self._left:
            asks = time.monotonic() >= ask
            states = self.states() if asks else None
            self._read(always=asks)
            if states is not None:
                self._compare(states)
            if asks:
                pause = min(MOST, pause * 1.5)
                ask = time.monotonic() + pause
            running = sum(job.state is State.RUNNING for job in self._left.values())
            self.status.n_jobs = max(1, running)
            self.status.tick()
            if self._left:
                time.sleep(PAUSE)

    def _read(self, always: bool) -> None:
        """Takes the outcomes of jobs that have ended. always: also if the folder says that nothing
        has changed; its clock may be coarse.
        """
        outcomes = self.folder / "outcomes"
        changed = outcomes.stat().st_mtime_ns
        if changed == self._changed and not always:
            return
        self._changed = changed
        for name in os.listdir(outcomes):
            number = self._files.get(name, "")
            if number in self._left and "reason" in (found := read_json(outcomes / name)):
                self._end(number, str(found["reason"]), held=found.get("held") is True)

    def _compare(self, states: dict[str, tuple[str, str]]) -> None:
        """Takes the states of the queue."""
        for number, job in list(self._left.items()):
            state, reason = states.get(number, (GONE, ""))
            if state in ENDED or state in FINISHED:
                self._lost(number, state)
            else:
                self._over.pop(number, None)
            if number not in self._left:
                continue
            if state in RUNNING:
                if job.state is State.WAITING:
                    job.state, job.began = State.RUNNING, time.monotonic()
                    self.status.started(job)
            elif state not in ENDED:
                job.queue = state + (f": {reason}" if reason not in ("", "None") else "")
                if job.state is State.RUNNING:
                    job.state = State.WAITING
                    self.status.queued(job)
        reasons = {job.queue for job in self._left.values() if job.state is State.WAITING}
        if reasons - self._reasons - {""}:
            self.status.now()
        self._reasons |= reasons

    def _lost(self, number: str, state: str) -> None:
        """Fails a job that ended without an outcome, once the queue has said so twice and the disk
        had time to show the outcome.
        """
        job = self.jobs[number]
        first, count = self._over.get(number, (time.monotonic(), 0))
        self._over[number] = first, count + 1
        # the first of several tasks ends badly after its outcome, so that the others end
        told = state in FINISHED or (state == "FAILED" and job.nodes > 1)
        if count == 0 or (told and time.monotonic() - first < LATE):
            return
        words = slurm.last_words(self.folder, number) or slurm.last_line(
            job.entry.log, skip=(HEAD,)
        )
        job.fail(f"SLURM: {state}" + (f": {words}" if words else ""))
        self._end(number, job.reason)

    def _end(self, number: str, reason: str, held: bool = False) -> None:
        job = self._left.pop(number)
        job.reason, job.seconds = reason, time.monotonic() - job.began
        job.state = State.FAILED if reason else State.HELD if held else State.DONE
        self.status.ended(job)
