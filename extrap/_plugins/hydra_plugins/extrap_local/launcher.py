"""The launcher `local`: reads and checks every job of a sweep, then runs each in a fresh process."""

import hashlib
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from extrap.errors import UserError
from extrap.explain import explain
from extrap.sweep import pool
from extrap.sweep.cores import cores
from extrap.sweep.names import file_name, labels
from extrap.sweep.process import Process, State
from extrap.sweep.status import status, summary

# What concerns the sweep and not its jobs: a job runs once, and starts no sweep.
OF_THE_SWEEP = ("hydra.mode=", "hydra/launcher=", "hydra.launcher.", "hydra/sweeper=", "hydra.sweeper.", "hydra.sweep.")


class LocalLauncher(Launcher):
    """At most `n_jobs` jobs side by side; None: as many as can have `threads` cores each."""

    def __init__(self, n_jobs: int | None) -> None:
        self.n_jobs = n_jobs

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        self.loader: Any = hydra_context.config_loader
        self.program: Any = task_function
        self.config = config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Runs the jobs. Raises UserError with a line per mistake before the first job starts, SystemExit(1) in the end if any failed."""
        if self.n_jobs is not None and (type(self.n_jobs) is not int or self.n_jobs < 1):
            raise UserError(f"hydra.launcher.n_jobs={self.n_jobs}: must be a whole number from 1, or null for cores // threads")
        began = time.monotonic()
        batch, configs, states = self._read([list(overrides) for overrides in job_overrides])
        n_jobs = self.n_jobs or max(1, cores() // max(int(OmegaConf.select(cfg, "threads", default=1)) for cfg in configs))
        folder = Path(str(self.config.hydra.sweep.dir)) / hashlib.sha256(repr(batch).encode()).hexdigest()[:8]
        jobs = [
            Process(label, self._command(overrides), folder / file_name(number, label), state)
            for number, (label, overrides, state) in enumerate(zip(labels(batch), batch, states, strict=True), 1)
        ]
        pool.run(jobs, n_jobs, status(jobs, n_jobs))
        print(summary(jobs, time.monotonic() - began), file=sys.stderr)
        if any(job.state is State.FAILED for job in jobs):
            raise SystemExit(1)
        return [JobReturn(overrides=overrides, status=JobStatus.COMPLETED) for overrides in batch]

    def _read(self, batch: list[list[str]]) -> tuple[list[list[str]], list[DictConfig], list[State]]:
        """Overrides, configuration and state of every job that differs from those before it."""
        found: dict[str, tuple[list[str], DictConfig, State]] = {}
        wrong: dict[str, None] = {}
        for overrides in batch:
            try:
                with self._composed(overrides) as cfg:
                    self.program.read(cfg)
                    state = State.SKIPPED if self.program.finished(cfg) else State.WAITING
                    if state is State.WAITING:
                        self.program.check(cfg)
                found.setdefault(OmegaConf.to_yaml(cfg), (overrides, cfg, state))
            except UserError as error:
                wrong[str(error)] = None
            except Exception as error:
                raise RuntimeError(f"a bug met while reading the job {' '.join(overrides)}") from error
        if wrong:
            raise UserError("\n".join(wrong))
        kept = list(found.values())
        return [o for o, _, _ in kept], [cfg for _, cfg, _ in kept], [state for _, _, state in kept]

    @contextmanager
    def _composed(self, overrides: list[str]) -> Iterator[DictConfig]:
        """The configuration the job will see; inside, `${hydra:...}` resolves as it will there. Raises UserError."""
        try:
            cfg = self.loader.load_sweep_config(self.config, overrides)
        except Exception as error:
            if (line := explain(error, overrides, self.program.conf)) is None:
                raise
            raise UserError(line) from None
        before = HydraConfig.instance().cfg
        HydraConfig.instance().set_config(cfg)
        try:
            with read_write(cfg), open_dict(cfg):
                del cfg["hydra"]
            yield cfg
        finally:
            HydraConfig.instance().cfg = before

    def _command(self, overrides: list[str]) -> list[str]:
        """The program again, with the job's options and the same folders of configuration files."""
        hydra_node = self.config.hydra
        folders = {s.provider: s.path if s.schema == "file" else f"{s.schema}://{s.path}" for s in hydra_node.runtime.config_sources}
        where = ["--config-path", folders["main"], "--config-name", hydra_node.job.config_name]
        if "command-line" in folders:
            where += ["--config-dir", folders["command-line"]]
        # -m puts the working folder first on the import path, -P does not: as it is for this process.
        path = [] if os.getcwd() in sys.path else ["-P"]
        own = [o for o in hydra_node.overrides.hydra if not o.startswith(OF_THE_SWEEP)]
        return [sys.executable, *path, "-m", self.program.module, *where, *own, *overrides, "hydra.mode=RUN"]
