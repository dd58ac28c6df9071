"""A job of a sweep on a node of a cluster: submitit runs the command of the job in a process."""

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from extrap.cli.sweep.pool import TICK
from extrap.cli.sweep.process import Process, State
from extrap.runs.folder import write_json
from extrap.runs.study import Entry
from extrap.utils import lock

PATIENCE = 30.0  # seconds that a job has to end by itself
GRACE = 2.0  # seconds after SIGTERM in which a cluster may ask to queue the job again
SOON = 0.5  # seconds between the signals that a cluster sends to the processes of a job

PAUSE = 1.0
"""Seconds between two looks at the process that has what a job is to do."""
BUSY = 2 * lock.LEASE
"""Seconds after which a job that another process does leaves its node: that process lives."""


@dataclass
class Work:
    """A call on the node, to which it travels as a pickle.

    Args:
        outcome: the file for the reason of a failure, "" after a success, and for whether another
            process has the job; a job that the cluster ends writes none: whether the job is lost
            or queued again is in the queue
    """

    label: str
    command: list[str]
    entry: Entry
    outcome: Path
    _process: Process | None = field(default=None, init=False, repr=False)

    def __call__(self) -> None:
        """Runs the job. Raises no error of the job, and SystemExit if the cluster ends it or one of
        several tasks fails or leaves it: srun then ends the others, which would wait.
        """
        first = os.environ.get("SLURM_PROCID", "0") == "0"  # of the tasks of the job
        if first:
            self.outcome.unlink(missing_ok=True)
        job = self._process = Process(self.label, self.command, self.entry)
        with _terminations() as told:
            self._run(job, told)
            if job.state is State.FAILED:
                time.sleep(SOON)  # the cluster may have ended the process of the job first
            if told and job.state not in (State.DONE, State.SKIPPED):
                job.end(PATIENCE)
                job.ended()
                time.sleep(GRACE)
                raise SystemExit(128 + signal.SIGTERM)
        if job.state is State.FAILED:
            job.fail(job.reason)
        if first:
            held = job.state is State.HELD
            write_json(self.outcome, {"reason": job.reason, "held": held})
        several = os.environ.get("SLURM_NTASKS", "1") != "1"
        if several and job.state in (State.FAILED, State.HELD):
            raise SystemExit(1)

    def _run(self, job: Process, told: list[int]) -> None:
        while job.state in (State.WAITING, State.HELD) and not told:
            if job.state is State.HELD and not free(self.entry, told):
                return
            job.start()
            while not job.ended() and not told:
                time.sleep(TICK)

    def checkpoint(self) -> Any:
        """Ends the job cleanly and queues it again: submitit calls this before the time of the node
        is over or another job takes the node.
        """
        from submitit.helpers import DelayedSubmission

        if self._process is not None:
            self._process.end(PATIENCE)
        return DelayedSubmission(Work(self.label, self.command, self.entry, self.outcome))


def free(entry: Entry, told: Sequence[int] = ()) -> bool:
    """Waits while another process trains a run that a job needs, or does the job. Returns False if
    it does the job for longer than BUSY, and if the cluster has told this process to end.
    """
    since = time.monotonic()
    while entry.busy() and not told:
        if not entry.done_elsewhere():
            since = time.monotonic()
        elif time.monotonic() - since > BUSY:
            return False
        time.sleep(PAUSE)
    return not told


@contextmanager
def _terminations() -> Iterator[list[int]]:
    """Inside, SIGTERM goes into a list: SLURM sends it before it ends a job or queues it again."""
    told: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: told.append(number))
    try:
        yield told
    finally:
        signal.signal(signal.SIGTERM, before)
