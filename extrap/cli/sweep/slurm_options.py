"""The options of the launcher `slurm`, under the names that submitit gives them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any

from annotated_types import Ge, Gt

from extrap.cli.sweep.process import Process
from extrap.utils.bounds import Count
from extrap.utils.errors import UserError

MINUTE = 60
"""Seconds that SLURM may send a signal too early (https://slurm.schedmd.com/sbatch.html,
`--signal`).
"""

OWN = ("submitit_folder", "max_num_timeout")
"""Options that the launcher uses itself; the others are parameters of submitit."""

Whole = Annotated[int, Ge(0)]
Gigabytes = Annotated[float, Gt(0)]


@dataclass(frozen=True, kw_only=True)
class SlurmOptions:
    """The resources that each job of a sweep requests from SLURM; null leaves one to the cluster.

    Args:
        submitit_folder: each sweep makes a private folder in it for its logs and pickles; parts
            of the path from the first `%` on are left out
        timeout_min: minutes of a job; at least a minute longer than signal_delay_s
        signal_delay_s: seconds before the end at which SLURM warns a job, so that it can stop
        max_num_timeout: times that a job which ran out of time goes into the queue again
        array_parallelism: jobs side by side of each array; a sweep has one for 1000 jobs
        name, comment: of the jobs, in the queue
        cpus_per_task: cores; null: threads and trainer.workers of each process of a job, or none
            beside cpus_per_gpu
        gpus_per_node: GPUs; null: the devices of `trainer`, unless another option asks for them
        nodes, tasks_per_node: null: trainer.num_nodes, and a task for each device of several nodes
        mem_gb: memory in GB
        partition, account, qos, constraint, exclude, gres: as in sbatch
        cpus_per_gpu, gpus_per_task, mem_per_gpu, mem_per_cpu: as in sbatch
        additional_parameters: other options of sbatch, as in {mail-type: BEGIN}
        setup: lines of shell before each job
        stderr_to_stdout: one log of the node in place of two
    """

    submitit_folder: str
    timeout_min: Count = 60
    signal_delay_s: Whole = 120
    max_num_timeout: Whole = 0
    array_parallelism: Count = 256
    name: str = "extrap"
    comment: str | None = None
    cpus_per_task: Count | None = None
    gpus_per_node: Whole | None = None
    tasks_per_node: Count | None = None
    nodes: Count | None = None
    mem_gb: Gigabytes | None = None
    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    constraint: str | None = None
    exclude: str | None = None
    gres: str | None = None
    cpus_per_gpu: Count | None = None
    gpus_per_task: Count | None = None
    mem_per_gpu: str | int | None = None
    mem_per_cpu: str | int | None = None
    additional_parameters: dict[str, Any] | None = None
    setup: list[str] | None = None
    stderr_to_stdout: bool = False

    def __post_init__(self) -> None:
        if self.timeout_min * MINUTE < self.signal_delay_s + MINUTE:
            problem = f"ends before SLURM has warned the job, {self.signal_delay_s} s before"
            remedy = (
                f"give {-(-self.signal_delay_s // MINUTE) + 1} or more, or a smaller "
                "hydra.launcher.signal_delay_s"
            )
            raise UserError("hydra.launcher.timeout_min", self.timeout_min, problem, remedy)

    def check(self, place: "Place") -> None:
        """Raises UserError for nodes and tasks that the trainer of the jobs does not have."""
        for option, due in (("nodes", place.nodes), ("tasks_per_node", place.tasks)):
            value = getattr(self, option)
            if value not in (None, due):
                problem = f"the trainer of these jobs has {due}"
                remedy = "leave it out, and give trainer.num_nodes and trainer.devices"
                raise UserError(f"hydra.launcher.{option}", value, problem, remedy)

    def check_time(self, save_minutes: float) -> None:
        """Raises UserError if a job may end before a training has saved anything, at most so many
        minutes after its start: queued again, it would never get further.
        """
        last = self.timeout_min - self.signal_delay_s / MINUTE - 1
        if save_minutes and save_minutes >= last:
            enough = math.floor(save_minutes + self.timeout_min - last) + 1
            problem = f"may end before the first checkpoint (train.save_minutes={save_minutes:g})"
            remedy = f"give {enough} or more" + f", or train.save_minutes={last / 2:g}" * (last > 0)
            raise UserError("hydra.launcher.timeout_min", self.timeout_min, problem, remedy)

    def parameters(self, place: "Place") -> dict[str, Any]:
        """Returns the parameters of submitit for jobs of this size."""
        given = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in OWN}
        given |= {"nodes": place.nodes, "tasks_per_node": place.tasks}
        if place.tasks > 1 or place.nodes > 1:  # a task that fails ends the others
            given["srun_args"] = ["--kill-on-bad-exit=1"]
        if self.cpus_per_gpu is None:
            given["cpus_per_task"] = self.cpus_per_task or place.cores
        if self.gpus_per_node is None and not self._asks_for_gpus():
            given["gpus_per_node"] = place.gpus
        given["gpus_per_node"] = given["gpus_per_node"] or None
        return {f"slurm_{name}": value for name, value in given.items() if value is not None}

    def _asks_for_gpus(self) -> bool:
        more = self.additional_parameters or {}
        gpus = [name for name in more if "gpu" in name or name == "gres"]
        return bool(self.gpus_per_task or self.gres or gpus)


@dataclass(frozen=True)
class Place:
    """What the largest of some jobs needs.

    Args:
        tasks: on each node
        cores: of a task
        gpus: of a node

    On one node a job is one task, whose process starts the others; on several each is a task.
    """

    nodes: int = 1
    tasks: int = 1
    cores: int = 1
    gpus: int = 0

    @classmethod
    def of(cls, jobs: Sequence[Process]) -> "Place":
        """Raises UserError for jobs of different numbers of nodes or tasks, which are no array."""
        shapes = {(job.nodes, job.processes if job.nodes > 1 else 1) for job in jobs}
        if len(shapes) > 1:
            problem, remedy = "jobs of different sizes in one sweep", "sweep each size by itself"
            raise UserError("trainer.num_nodes", problem=problem, remedy=remedy)
        nodes, tasks = shapes.pop() if shapes else (1, 1)
        cores = max((job.cores // tasks for job in jobs), default=1)
        return cls(nodes, tasks, cores, max((job.gpus for job in jobs), default=0))
