"""The launcher `local`: reads and checks every job of a sweep, then runs each in a
fresh process.
"""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from hydra_plugins.extrap_local.reading import Reader
from omegaconf import DictConfig

from extrap.cli.sweep import pool
from extrap.cli.sweep.display import Status, summary
from extrap.cli.sweep.grid import selected
from extrap.cli.sweep.process import State
from extrap.utils.cores import SHARE, cores
from extrap.utils.errors import UserError


class LocalLauncher(Launcher):
    """At most `n_jobs` jobs side by side; None: `sweep.jobs` of the configuration, or else as many
    as can have `threads` cores each.

    A job that takes longer than `timeout_min` minutes is stopped and counts as failed; None: it may
    take as long as it likes.
    """

    def __init__(self, n_jobs: int | None, timeout_min: float | None = None) -> None:
        self.n_jobs, self.timeout_min = n_jobs, timeout_min
        self.jobs: int | None = None

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        self.reader = Reader(hydra_context, task_function, config)
        self.jobs = selected(config, "jobs")
        self.folder = Path(str(config.hydra.sweep.dir))

    def launch(
        self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int
    ) -> Sequence[JobReturn]:
        """Runs the jobs. Raises UserError with a line per mistake before the first job starts,
        SystemExit(1) in the end if any failed.
        """
        self._check()
        began = time.monotonic()
        read, jobs = zip(
            *self.reader.jobs(
                job_overrides, self.folder, self.timeout_min and 60 * self.timeout_min
            ),
            strict=True,
        )
        n_jobs = self.n_jobs or self.jobs or max(1, cores() // max(job.threads for job in read))
        os.environ[SHARE] = str(max(1, cores() // n_jobs))
        try:
            shown = Status(list(jobs), n_jobs, live=sys.stderr.isatty())
            pool.run(list(jobs), n_jobs, shown)
        finally:
            del os.environ[SHARE]
        entries = [job.entry for job in read]
        print(summary(list(jobs), time.monotonic() - began, entries), file=sys.stderr)
        if any(job.state is State.FAILED for job in jobs):
            raise SystemExit(1)
        return [JobReturn(overrides=job.overrides, status=JobStatus.COMPLETED) for job in read]

    def _check(self) -> None:
        for option, jobs in (("hydra.launcher.n_jobs", self.n_jobs), ("sweep.jobs", self.jobs)):
            if jobs is not None and (type(jobs) is not int or jobs < 1):
                raise UserError(
                    f"{option}={jobs}: must be a whole number from 1, or null for cores // threads"
                )
        limit = self.timeout_min
        if limit is not None and (type(limit) not in (int, float) or not limit > 0):
            raise UserError(
                f"hydra.launcher.timeout_min={limit}: must be a number of minutes above 0, or "
                "null for no limit"
            )
