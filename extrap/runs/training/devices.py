"""One training on several devices: a process each, its share of every batch, and one process alone
that writes.

A step is one update of the weights, from one batch, whatever computes it. The batch of a step is
what it is on one device, divided: of n shares, share r takes every n-th window of each part, from
window r on. Shares go to `trainer.devices` x `trainer.num_nodes` processes, and within each to
`trainer.accumulate_grad_batches` forwards one after another. Gradients are averaged over shares;
the loss of a share counts by the tokens that it scores, so that the average is the gradient of the
whole batch, and the run does not depend on the number of devices (up to rounding). Random numbers
are the same in every process, so that a resumed run is the uninterrupted one.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from extrap.data.mixture import Batch
from extrap.utils.errors import UserError

if TYPE_CHECKING:  # evaluation does without the seconds that the import takes
    from lightning.pytorch.strategies import Strategy

RANKS = ("RANK", "LOCAL_RANK", "NODE_RANK", "SLURM_PROCID")
"""Where launchers (Lightning's own, torchrun, SLURM) say which process this is; all are 0 or
missing in the one that writes.
"""

LAUNCHERS = ("WORLD_SIZE", "MASTER_ADDR", "SLURM_NTASKS", "GROUP_RANK")
"""Where they say that there are others."""


OURS = ("compile", "recompute", "workers")
"""Options of a trainer that are read here and that Lightning does not know."""

WORKERS = 8
"""Processes that draw batches, at most."""


PRECISIONS = {
    None: "32-true",
    "32": "32-true",
    "64": "64-true",
    "16": "16-mixed",
    "bf16": "bf16-mixed",
}
"""Short names that Lightning takes for a precision."""


DTYPES = {
    "32-true": torch.float32,
    "64-true": torch.float64,
    "bf16-true": torch.bfloat16,
    "bf16-mixed": torch.float32,
}
"""Numbers that weights are kept in, for each precision that training has. float16 is none of them:
its gradients have to be scaled, which fused AdamW does inside, after they were to be clipped.
"""


def precision(value: Any) -> str:
    """A `trainer.precision` in full: `32-true` for 32, `bf16-mixed` for bf16. Raises UserError for
    one that training does not have.
    """
    word = PRECISIONS.get(value if value is None else str(value), str(value))
    if word not in DTYPES:
        raise UserError(f"trainer.precision={value}: choose one of {', '.join(DTYPES)}")
    return word


def first() -> bool:
    """Whether this is the process that writes: run folder, rows, progress, W&B."""
    return all(os.environ.get(name, "0") == "0" for name in RANKS)


def settle(trainer: Mapping[str, Any]) -> None:
    """Takes what launchers say of ranks out of the environment of a run on one device, which is
    the only process of its training whoever started it.
    """
    if processes(trainer) == 1:
        for name in (*RANKS, *LAUNCHERS):
            os.environ.pop(name, None)


def processes(trainer: Mapping[str, Any]) -> int:
    """Processes of a training. Raises UserError for a number of devices that is not spelt out."""
    devices, nodes = trainer.get("devices", 1), trainer.get("num_nodes", 1)
    count = len(devices) if isinstance(devices, list) else devices
    if type(count) is not int or type(nodes) is not int or count < 1 or nodes < 1:
        raise UserError(
            f"trainer.devices={devices} trainer.num_nodes={nodes}: whole numbers from 1"
        )
    return count * nodes


def accumulated(trainer: Mapping[str, Any]) -> int:
    """Forwards that the share of a process is divided into. Raises UserError for a number that is
    none.
    """
    n = trainer.get("accumulate_grad_batches", 1)
    if type(n) is not int or n < 1:
        raise UserError(f"trainer.accumulate_grad_batches={n}: expected a whole number from 1")
    return n


def compiled(trainer: Mapping[str, Any]) -> bool:
    """Whether torch.compile makes the forward and backward of the model: the option
    `trainer.compile`. Raises UserError for what is neither true nor false, and on several devices,
    where it was never tried.
    """
    word = trainer.get("compile", False)
    if type(word) is not bool:
        raise UserError(f"trainer.compile={word}: expected true or false")
    if word and processes(trainer) > 1:
        raise UserError("trainer.compile=true: for one device; leave it out on several")
    return word


def recomputed(trainer: Mapping[str, Any]) -> bool:
    """Whether the backward computes each layer again instead of remembering it: the option
    `trainer.recompute`. Raises UserError for what is neither true nor false.
    """
    word = trainer.get("recompute", False)
    if type(word) is not bool:
        raise UserError(f"trainer.recompute={word}: expected true or false")
    return word


def sharded(trainer: Mapping[str, Any]) -> bool:
    """Whether each process holds a part of the weights alone."""
    return trainer.get("strategy") == "fsdp"


def workers(trainer: Mapping[str, Any]) -> int:
    """Processes that draw batches beside the training: the option `trainer.workers`. Raises
    UserError for a number that is none.
    """
    n = trainer.get("workers", 0)
    if type(n) is not int or not 0 <= n <= WORKERS:
        raise UserError(f"trainer.workers={n}: expected a whole number from 0 to {WORKERS}")
    return n


def check(trainer: Mapping[str, Any], sizes: Mapping[str, int], sweep: bool) -> None:
    """Raises UserError for several devices in a job of a sweep, for nodes that nobody has started,
    for parts of a batch (windows by name) that do not divide, and for a model that cannot be
    compiled.
    """
    n, times = processes(trainer), accumulated(trainer)
    for option in (compiled, recomputed, workers):
        option(trainer)
    if trainer.get("overfit_batches"):
        raise UserError(
            f"trainer.overfit_batches={trainer['overfit_batches']}: Lightning cannot take it with "
            "batches that are drawn as they are needed; leave it out"
        )
    if sweep and n > 1:
        raise UserError(
            f"trainer.devices={trainer['devices']}: a job of a sweep has one device; start this "
            "run by itself, without -m"
        )
    nodes = trainer.get("num_nodes", 1)
    if nodes > 1 and not any(name in os.environ for name in LAUNCHERS):
        raise UserError(
            f"trainer.num_nodes={nodes}: nothing has started the other nodes; start this command "
            "on each with torchrun or srun"
        )
    for part, size in sizes.items():
        if size % (n * times):
            among = f"{n} processes" if times == 1 else f"{n} x {times} shares"
            raise UserError(
                f"data.{part}.size={size}: does not divide among {among}; give a multiple of "
                f"{n * times}"
            )


def strategy(trainer: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a Trainer, without those of OURS; `strategy: fsdp` is FSDP2 in as many
    shards as there are processes.
    """
    known = {name: value for name, value in trainer.items() if name not in OURS}
    if not sharded(trainer):
        return known
    from extrap.runs.training.shards import Shards

    return known | {"strategy": Shards(processes(trainer))}


class Counts(NamedTuple):
    """How many times means over the targets of a part count in a share, 1 on average over the
    shares of a batch: over all, over those that are scored once, over echoes.
    """

    every: float = 1.0
    scored: float = 1.0
    echoes: float = 1.0


@dataclass
class Share(Batch):
    """Some windows of a batch: turn `turn` of the `turns` in which a process computes its own."""

    turn: int = 0
    turns: int = 1
    counts: dict[str, Counts] = field(default_factory=dict)


def counts(batch: Batch, part: str) -> Counts:
    return batch.counts[part] if isinstance(batch, Share) else Counts()


def counted(mean: Tensor, count: float) -> Tensor:
    """A mean as much as it counts; one over no target counts nothing, though it is undefined."""
    if count == 1.0:
        return mean
    return mean * count if count else torch.nan_to_num(mean) * 0.0


def turns(batch: Batch) -> int:
    """Forwards that a process makes for a step."""
    return batch.turns if isinstance(batch, Share) else 1


def begins(batch: Batch) -> bool:
    """Whether this is the first of them."""
    return not isinstance(batch, Share) or batch.turn == 0


def ends(batch: Batch) -> bool:
    """Whether this is the last of them: the weights are updated after it."""
    return not isinstance(batch, Share) or batch.turn == batch.turns - 1


def environment(trainer: Mapping[str, Any]) -> list[Any]:
    """The plug-in of a Trainer that keeps a run on one device out of the cluster it may run in:
    inside an allocation of several tasks, Lightning would wait for them, or refuse.
    """
    from lightning.fabric.plugins.environments.lightning import LightningEnvironment

    return [LightningEnvironment()] if processes(trainer) == 1 else []


def share(batch: Batch, rank: int, n: int, turn: int = 0, turns: int = 1) -> Batch:
    """The windows of a batch that are those of share `rank` of `n`: every n-th of each part."""
    if n == 1:
        return batch
    kept = [torch.arange(rows.start + rank, rows.stop, n) for rows in batch.parts.values()]
    parts, at = {}, 0
    for name, rows in zip(batch.parts, kept, strict=True):
        parts[name] = slice(at, at + len(rows))
        at += len(rows)
    rows = torch.cat(kept)
    early = None if batch.early is None else batch.early[rows]
    divided = Share(
        batch.tokens[rows],
        batch.targets[rows],
        parts,
        early,
        weights=batch.weights,
        turn=turn,
        turns=turns,
    )
    for name in parts:
        scored, echoes = len(divided.scored[name]), len(divided.echoes[name])
        all_scored, all_echoes = len(batch.scored[name]), len(batch.echoes[name])
        divided.counts[name] = Counts(
            n * (scored + echoes) / max(1, all_scored + all_echoes),
            n * scored / max(1, all_scored),
            n * echoes / max(1, all_echoes),
        )
    return divided


def weights(strategy: "Strategy") -> dict[str, Tensor]:
    """The weights of the model, whole, after training; every process has to ask."""
    return {
        name.removeprefix("model."): tensor
        for name, tensor in strategy.lightning_module_state_dict().items()
    }
