"""The processes of one training: one on each device. The first process alone writes files.

Random numbers are the same in every process, so that a resumed run equals an uninterrupted one.
"""

import os
from dataclasses import replace

from extrap.data.mixture import Mixture
from extrap.runs.training.options import TrainerOptions
from extrap.utils.errors import UserError

RANKS = ("RANK", "LOCAL_RANK", "NODE_RANK", "SLURM_PROCID")
"""Variables of launchers (Lightning, torchrun, SLURM) with the index of a process."""

SLURM = ("SLURM_PROCID", "SLURM_NTASKS")
"""Variables by which Lightning takes the tasks of an allocation for its processes."""

LAUNCHERS = ("WORLD_SIZE", "MASTER_ADDR", "SLURM_NTASKS", "GROUP_RANK")
"""Variables of launchers that start several processes."""


def first() -> bool:
    """True in the process that writes run folder, rows, progress and W&B."""
    return all(os.environ.get(name, "0") == "0" for name in RANKS)


def settle(options: TrainerOptions) -> None:
    """Removes the variables of launchers that did not start the processes of this training, so that
    it has a first process also inside an allocation of several tasks.
    """
    if options.processes == 1:
        names = (*RANKS, *LAUNCHERS)
    elif options.num_nodes == 1 and not by_slurm(options):
        names = SLURM
    else:
        return
    for name in names:
        os.environ.pop(name, None)


def by_slurm(options: TrainerOptions) -> bool:
    """True if SLURM has started each process of a training as a task. It may also hold the devices
    for one task, or for several that no srun has started.
    """
    by_torchrun = "TORCHELASTIC_RUN_ID" in os.environ
    tasks = os.environ.get("SLURM_STEP_NUM_TASKS")
    return tasks == str(options.processes) and not by_torchrun


def started_outside(options: TrainerOptions) -> bool:
    """True if torchrun or srun has started each process of a training."""
    return "TORCHELASTIC_RUN_ID" in os.environ or by_slurm(options)


def anywhere(options: TrainerOptions) -> TrainerOptions:
    """Returns the options for a machine without the devices, to check the others."""
    if options.accelerator not in ("gpu", "cuda"):
        return options
    given = {**options.lightning, "accelerator": "cpu"}
    return replace(options, accelerator="cpu", lightning=given)


def check(options: TrainerOptions, mixture: Mixture, sweep: bool) -> None:
    """Raises UserError for devices that a job of a sweep chooses itself, for nodes that no launcher
    started, and for a part of a batch that does not divide.
    """
    n, nodes, times = options.processes, options.num_nodes, options.accumulate_grad_batches
    if sweep and isinstance(options.devices, list):
        problem, remedy = "a sweep gives its jobs their devices", "give a number of them"
        raise UserError("trainer.devices", options.devices, problem, remedy)
    if nodes > 1 and not sweep and not any(name in os.environ for name in LAUNCHERS):
        problem = "no launcher has started the other nodes"
        remedy = "start this command on each node with torchrun or srun"
        raise UserError("trainer.num_nodes", nodes, problem, remedy)
    among = f"{n} processes" if times == 1 else f"{n} x {times} shares"
    for name, part in mixture.parts.items():
        if not part.size % (n * times):
            continue
        if mixture.tokens is None:
            problem, remedy = f"does not divide among {among}", f"give a multiple of {n * times}"
            raise UserError(f"{mixture.option(name)}.size", part.size, problem, remedy)
        problem = f"{part.size} windows of {name} do not divide among {among}"
        remedy = "give another number, or leave it out and give sizes"
        raise UserError("data.tokens", mixture.tokens, problem, remedy)
