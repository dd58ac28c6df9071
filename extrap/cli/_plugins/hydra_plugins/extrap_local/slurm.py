"""The launcher `slurm`: reads and checks every job of a sweep, then queues the unfinished jobs as
arrays of a SLURM cluster.

The disk decides: a job that is queued again (preempted, out of time, or by the same command) goes
on where it stopped.
"""

import sys
from importlib.util import find_spec
from typing import Any

from hydra_plugins.extrap_local.reading import Reader, tell_held
from omegaconf import DictConfig, OmegaConf

from extrap.cli.sweep import slurm
from extrap.cli.sweep.display import Status
from extrap.cli.sweep.node import Work
from extrap.cli.sweep.process import Process
from extrap.cli.sweep.slurm_options import Place, SlurmOptions
from extrap.cli.sweep.watch import Watch
from extrap.runs.build import build
from extrap.utils.errors import UserError
from extrap.utils.pip import install_extra


class SlurmLauncher(Reader):
    """The options are those of SlurmOptions."""

    def __init__(self, **options: Any) -> None:
        self.given = {
            key: OmegaConf.to_container(o, resolve=True) if OmegaConf.is_config(o) else o
            for key, o in options.items()
        }

    def setup(self, *, config: DictConfig, **more: Any) -> None:
        """Raises UserError for an option out of bounds, and without submitit."""
        super().setup(config=config, **more)
        if find_spec("submitit") is None:
            remedy = install_extra("slurm")
            raise UserError(slurm.LAUNCHER, problem="needs submitit", remedy=remedy)
        target = f"{SlurmOptions.__module__}.{SlurmOptions.__name__}"
        self.options: SlurmOptions = build(self.given | {"_target_": target}, "hydra.launcher")

    def check(self, jobs: list[Process]) -> None:
        """Raises UserError for options that contradict the trainer of the jobs, and for a time in
        which a training may save nothing.
        """
        self.options.check(Place.of(jobs))
        trained = [job for job in jobs if job.save_minutes and job.entry.to_train()]
        self.options.check_time(max((job.save_minutes or 0 for job in trained), default=0))

    def run(self, jobs: list[Process]) -> None:
        """Queues the jobs and waits for them. Ctrl-C leaves them in the queue."""
        if not (left := self.left(jobs)):
            return
        folder = slurm.private(self.options.submitit_folder)
        executor = slurm.executor(folder, self.options, Place.of(left))
        outcomes = folder / "outcomes"
        outcomes.mkdir()
        work = [
            Work(job.label, job.command, job.entry, outcomes / f"{n}.json")
            for n, job in enumerate(left)
        ]
        numbers = slurm.queue(executor, work)
        print(
            f"extrap: {len(left)} job{'s' if len(left) > 1 else ''} in the queue as "
            f"{slurm.arrays(numbers)}, logs of the nodes in {folder}",
            file=sys.stderr,
        )
        try:
            Watch(dict(zip(numbers, left, strict=True)), folder, Status(left)).wait()
        except KeyboardInterrupt:
            print(
                f"extrap: the jobs stay with the cluster as {slurm.arrays(numbers)}; scancel ends "
                "them, extrap status tells of them",
                file=sys.stderr,
            )
            raise
        tell_held(left)
