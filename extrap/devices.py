"""One training on several devices: a process each, its share of every batch, and one process alone that writes.

The batch of a step is what it is on one device, divided: process r of n takes every n-th window of each part, from window r on. Gradients
are averaged over processes. That is the mean over the whole batch where every window scores equally many tokens (text); where they do
not (retrieval), it is the mean of the means of the shares. Results therefore differ a little with the number of devices, which is part
of the identity of a run. Random numbers are the same in every process, so that a resumed run is the uninterrupted one.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from extrap.data.mixture import Batch
from extrap.errors import UserError

if TYPE_CHECKING:  # evaluation does without the seconds that the import takes
    from lightning.pytorch.strategies import Strategy

RANKS = ("RANK", "LOCAL_RANK", "NODE_RANK", "SLURM_PROCID")
"""Where launchers (Lightning's own, torchrun, SLURM) say which process this is; all are 0 or missing in the one that writes."""


def first() -> bool:
    """Whether this is the process that writes: run folder, rows, progress, W&B."""
    return all(os.environ.get(name, "0") == "0" for name in RANKS)


def processes(trainer: Mapping[str, Any]) -> int:
    """Processes of a training. Raises UserError for a number of devices that is not spelt out."""
    devices, nodes = trainer.get("devices", 1), trainer.get("num_nodes", 1)
    count = len(devices) if isinstance(devices, list) else devices
    if type(count) is not int or type(nodes) is not int or count < 1 or nodes < 1:
        raise UserError(f"trainer.devices={devices} trainer.num_nodes={nodes}: whole numbers from 1; a run is named by how many there are")
    return count * nodes


def check(trainer: Mapping[str, Any], sizes: Mapping[str, int], sweep: bool) -> None:
    """Raises UserError for several devices in a job of a sweep, and for parts of a batch (windows by name) that do not divide."""
    if (n := processes(trainer)) == 1:
        return
    if sweep:
        raise UserError(f"trainer.devices={trainer['devices']}: a job of a sweep has one device; start this run by itself, without -m")
    for part, size in sizes.items():
        if size % n:
            raise UserError(f"data.{part}.size={size}: does not divide among {n} processes; give a multiple of {n}")


def strategy(trainer: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a Trainer; `strategy: fsdp` is FSDP2 in as many shards as there are processes, checkpoints in one file."""
    if trainer.get("strategy") != "fsdp":
        return dict(trainer)
    from lightning.pytorch.strategies import ModelParallelStrategy

    sharded = ModelParallelStrategy(processes(trainer), tensor_parallel_size=1, save_distributed_checkpoint=False)
    return dict(trainer) | {"strategy": sharded}


def share(batch: Batch, rank: int, n: int) -> Batch:
    """The windows of a batch that are those of process `rank` of `n`: every n-th of each part."""
    if n == 1:
        return batch
    kept = [torch.arange(rows.start + rank, rows.stop, n) for rows in batch.parts.values()]
    parts, at = {}, 0
    for name, rows in zip(batch.parts, kept, strict=True):
        parts[name] = slice(at, at + len(rows))
        at += len(rows)
    rows = torch.cat(kept)
    return Batch(batch.tokens[rows], batch.targets[rows], parts)


def weights(strategy: "Strategy") -> dict[str, Tensor]:
    """The weights of the model, whole, after training; every process has to ask."""
    return {name.removeprefix("model."): tensor for name, tensor in strategy.lightning_module_state_dict().items()}
