"""The options `trainer`: where and in which numbers a training computes."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal

import torch
from annotated_types import Ge, Interval, MinLen

from extrap.runs.build import build
from extrap.utils.bounds import Count

OURS = ("compile", "recompute", "workers")
"""Options that Lightning's Trainer does not have."""

PRECISIONS = {"None": "32-true", "32": "32-true", "64": "64-true", "bf16": "bf16-mixed"}
"""Short names of Lightning for a precision."""

DTYPES = {
    "32-true": torch.float32,
    "64-true": torch.float64,
    "bf16-true": torch.bfloat16,
    "bf16-mixed": torch.float32,
}
"""Type of the weights on the disk, by precision. extrap has no float16: fused AdamW would scale its
gradients after extrap has clipped them.
"""


@dataclass(frozen=True, kw_only=True)
class TrainerOptions:
    """The options that extrap reads; Lightning checks the others.

    Args:
        devices: number of devices on each node, or their indices
        num_nodes: number of nodes
        accumulate_grad_batches: forwards that a process divides its share of a batch into
        accelerator, strategy: as in Lightning, but for accelerator=auto; strategy=fsdp is FSDP2
        precision: of training, as in Lightning
        workers: processes that draw batches while the model trains
        compile: torch.compile makes forward and backward; extrap has it for one device
        recompute: the backward computes each layer again instead of storing it
        lightning: the arguments of Lightning's Trainer, as they were given
    """

    devices: Count | Annotated[list[Annotated[int, Ge(0)]], MinLen(1)] = 1
    num_nodes: Count = 1
    accumulate_grad_batches: Count = 1
    accelerator: str = "cpu"
    strategy: str = "auto"
    precision: Literal["32-true", "64-true", "bf16-true", "bf16-mixed"] = "32-true"
    workers: Annotated[int, Interval(ge=0, le=8)] = 0
    compile: bool = False
    recompute: bool = False
    lightning: Mapping[str, Any]

    def __post_init__(self) -> None:
        if self.accelerator == "auto":
            problem = "the launcher and the cost of a run have to know the device"
            raise ValueError(f"accelerator=auto: {problem}; give cpu or gpu")
        if self.compile and self.processes > 1:
            raise ValueError("compile=true: works on one device only; leave it out on several")

    @property
    def processes(self) -> int:
        """Returns the number of processes of a training."""
        count = len(self.devices) if isinstance(self.devices, list) else self.devices
        return count * self.num_nodes

    @property
    def gpus(self) -> int:
        """Returns the number of GPUs that a training holds."""
        return self.processes if self.accelerator in ("gpu", "cuda") else 0


def read(given: Mapping[str, Any]) -> TrainerOptions:
    """Returns the options of a configuration. Raises UserError for a value out of bounds."""
    known = {field.name for field in fields(TrainerOptions)} - {"lightning"}
    node = {name: value for name, value in given.items() if name in known}
    if "precision" in node:
        node["precision"] = full_name(node["precision"])
    node["_target_"] = f"{__name__}.{TrainerOptions.__name__}"
    lightning = {name: value for name, value in given.items() if name not in OURS}
    return build(node, "trainer", lightning=lightning)


def recomputed(given: Mapping[str, Any]) -> str:
    """Returns the word that sets `recompute`, which the files of a CPU lack."""
    return f"{'' if 'recompute' in given else '+'}trainer.recompute=true"


def full_name(precision: Any) -> Any:
    """Returns `32-true` for 32, and a name that Lightning does not shorten as it is."""
    return PRECISIONS.get(str(precision), precision)
