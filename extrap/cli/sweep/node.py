"""A job of a sweep on a node of a cluster: submitit runs the command of the job in a process."""

import time
from dataclasses import dataclass, field
from typing import Any

from extrap.cli.sweep.pool import TICK
from extrap.cli.sweep.process import Process, State
from extrap.runs.study import Entry

PATIENCE = 30.0  # seconds that a job has to end by itself
PAUSE = 1.0  # seconds between two looks at the process that has what this job is to do


@dataclass
class Work:
    """A call on the node, to which it travels as a pickle."""

    label: str
    command: list[str]
    entry: Entry
    _process: Process | None = field(default=None, init=False, repr=False)

    def __call__(self) -> str:
        """Returns why the job failed, "" if it succeeded. Raises no error of the job."""
        job = self._process = Process(self.label, self.command, self.entry)
        while job.state in (State.WAITING, State.HELD):
            while job.state is State.HELD and self.entry.busy():
                time.sleep(PAUSE)
            job.start()
            while not job.ended():
                time.sleep(TICK)
        if job.state is State.FAILED:
            job.fail(job.reason)
        return job.reason

    def checkpoint(self) -> Any:
        """Ends the job cleanly and queues it again: submitit calls this before the time of the node
        is over or another job takes the node.
        """
        from submitit.helpers import DelayedSubmission

        if self._process is not None:
            self._process.end(PATIENCE)
        return DelayedSubmission(Work(self.label, self.command, self.entry))
