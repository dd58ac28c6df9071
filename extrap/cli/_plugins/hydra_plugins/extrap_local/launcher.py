"""The launcher `local`: reads and checks every job of a sweep, runs each in a fresh process."""

import os
import sys
from typing import Any

from hydra_plugins.extrap_local.reading import Reader
from omegaconf import DictConfig

from extrap.cli.sweep import pool
from extrap.cli.sweep.display import Status
from extrap.cli.sweep.grid import selected
from extrap.cli.sweep.process import Process
from extrap.utils.cores import SHARE, cores
from extrap.utils.errors import UserError


class LocalLauncher(Reader):
    """Runs at most `n_jobs` jobs side by side; None: `sweep.jobs` of the configuration, or else as
    many as can have `threads` cores each.
    """

    def __init__(self, n_jobs: int | None) -> None:
        self.n_jobs = n_jobs

    def setup(self, *, config: DictConfig, **more: Any) -> None:
        super().setup(config=config, **more)
        jobs = selected(config, "jobs")
        for option, n in (("hydra.launcher.n_jobs", self.n_jobs), ("sweep.jobs", jobs)):
            if n is not None and (type(n) is not int or n < 1):
                raise UserError(
                    f"{option}={n}: must be a whole number from 1, or null for cores // threads"
                )
        self.n_jobs = self.n_jobs or jobs

    def run(self, jobs: list[Process]) -> None:
        n_jobs = self.n_jobs or max(1, cores() // max(job.threads for job in jobs))
        os.environ[SHARE] = str(max(1, cores() // n_jobs))
        try:
            pool.run(jobs, n_jobs, Status(jobs, n_jobs, live=sys.stderr.isatty()))
        finally:
            del os.environ[SHARE]
