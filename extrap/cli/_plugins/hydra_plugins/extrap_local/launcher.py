"""The launcher `local`: reads and checks every job of a sweep, then runs each in a
fresh process.
"""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from hydra.core.utils import JobReturn
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from hydra_plugins.extrap_local.reading import Reader, ended
from omegaconf import DictConfig

from extrap.cli.sweep import pool
from extrap.cli.sweep.display import Status
from extrap.cli.sweep.grid import selected
from extrap.utils.cores import SHARE, cores
from extrap.utils.errors import UserError


class LocalLauncher(Launcher):
    """Runs at most `n_jobs` jobs side by side; None: `sweep.jobs` of the configuration, or else as
    many as can have `threads` cores each.
    """

    def __init__(self, n_jobs: int | None) -> None:
        self.n_jobs = n_jobs
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
        for option, n in (("hydra.launcher.n_jobs", self.n_jobs), ("sweep.jobs", self.jobs)):
            if n is not None and (type(n) is not int or n < 1):
                raise UserError(
                    f"{option}={n}: must be a whole number from 1, or null for cores // threads"
                )
        began = time.monotonic()
        jobs = self.reader.jobs(job_overrides, self.folder)
        n_jobs = self.n_jobs or self.jobs or max(1, cores() // max(job.threads for job in jobs))
        os.environ[SHARE] = str(max(1, cores() // n_jobs))
        try:
            pool.run(jobs, n_jobs, Status(jobs, n_jobs, live=sys.stderr.isatty()))
        finally:
            del os.environ[SHARE]
        return ended(jobs, began)
