"""The launcher `slurm`: reads and checks every job of a sweep, then queues the unfinished jobs as
arrays of a SLURM cluster.

The disk decides: a job that is queued again (preempted, out of time, or by the same command) goes
on where it stopped.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra_plugins.extrap_local.reading import Reader
from omegaconf import OmegaConf

from extrap.cli.sweep.display import Status
from extrap.cli.sweep.node import Work
from extrap.cli.sweep.process import Process, State
from extrap.utils.errors import UserError, first_line
from extrap.utils.files import check_way

PAUSE = 1.0  # seconds between two looks at the jobs

MOST = 1000
"""Jobs of an array: SLURM takes indices below 1001 unless its administrators say otherwise
(MaxArraySize, https://slurm.schedmd.com/slurm.conf.html).
"""


class SlurmLauncher(Reader):
    """hydra-submitit-launcher has the same options; `cpus_per_task` is the threads of a job
    unless given.
    """

    def __init__(self, **options: Any) -> None:
        self.options = {
            key: OmegaConf.to_container(o, resolve=True) if OmegaConf.is_config(o) else o
            for key, o in options.items()
        }

    def run(self, jobs: list[Process]) -> None:
        """Queues the jobs and waits for them."""
        if left := [job for job in jobs if job.state is State.WAITING]:
            executor = self._executor(max(job.threads for job in left))
            self._wait(left, queue(executor, [Work(j.label, j.command, j.entry) for j in left]))

    def _executor(self, threads: int) -> Any:
        """Returns submitit's executor. Raises UserError if a link leads to its folder, and on a
        machine without SLURM.
        """
        import submitit
        from hydra_plugins.hydra_submitit_launcher.config import BaseQueueConf

        options = dict(self.options)
        folder, most = options.pop("submitit_folder"), options.pop("max_num_timeout")
        options["cpus_per_task"] = options.get("cpus_per_task") or threads
        shared = set(OmegaConf.structured(BaseQueueConf).keys())
        check_way(Path(folder))
        try:
            executor = submitit.AutoExecutor(folder, cluster="slurm", slurm_max_num_timeout=most)
        except RuntimeError as error:
            raise UserError(
                f"hydra/launcher=slurm: {error}; start the sweep where `sbatch` works"
            ) from None
        executor.update_parameters(
            **{key if key in shared else f"slurm_{key}": value for key, value in options.items()}
        )
        return executor

    def _wait(self, jobs: list[Process], queued: list[Any]) -> None:
        """Waits until every job has ended, with a line for each. Ctrl-C leaves them queued."""
        from submitit.helpers import as_completed

        status = Status(jobs)
        for job in jobs:
            job.state, job.began = State.RUNNING, time.monotonic()
            status.started(job)
        try:
            for slurm in as_completed(queued, poll_frequency=PAUSE):
                job = jobs[queued.index(slurm)]
                job.reason, job.seconds = _outcome(slurm), time.monotonic() - job.began
                job.state = State.FAILED if job.reason else State.DONE
                status.ended(job)
        except KeyboardInterrupt:
            numbers = ", ".join(sorted({slurm.job_id.split("_")[0] for slurm in queued}))
            print(
                f"extrap: the jobs stay with the cluster as {numbers}; scancel ends them, "
                "extrap status tells of them",
                file=sys.stderr,
            )
            raise


def queue(executor: Any, work: Sequence[Work]) -> list[Any]:
    """Submits the jobs in arrays of at most MOST, in their order."""
    queued: list[Any] = []
    for start in range(0, len(work), MOST):
        with executor.batch():
            queued += [executor.submit(one) for one in work[start : start + MOST]]
    return queued


def _outcome(slurm: Any) -> str:
    """Returns why a job failed, "" if it did not."""
    try:
        return str(slurm.result())
    except Exception as error:  # whatever submitit makes of a job that left no result
        return first_line(error)
