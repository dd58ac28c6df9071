"""One training whose weights, gradients and optimiser are split into shards, one for each process:
FSDP2 (arXiv 2304.11277).

Every process draws the same model and reads the same checkpoint, and keeps its shard. Checkpoints
are those of one device, whole and in one file, so that a run continues on any number of devices.
torch's distributed checkpoint (DCP) would not gather the weights, but its files are pickles, which
run code when they are read (torch 2.13, checkpoint/filesystem.py).
"""

from pathlib import Path
from typing import Any

import torch
from lightning.pytorch.strategies import ModelParallelStrategy
from torch import nn
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    set_model_state_dict,
    set_optimizer_state_dict,
)
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

from extrap.utils.errors import UserError

WHOLE = StateDictOptions(full_state_dict=True)
"""Whole tensors in every process."""


class Shards(ModelParallelStrategy):
    """The strategy of `trainer.strategy=fsdp`: n shards."""

    def __init__(self, n: int):
        super().__init__(n, tensor_parallel_size=1, save_distributed_checkpoint=False)

    def load_checkpoint(
        self, checkpoint_path: str | Path, weights_only: bool | None = None
    ) -> dict[str, Any]:
        """Reads a checkpoint and keeps the shards of this process.

        Lightning's own way numbers parameters by their order in the model, an optimiser by the
        order in its groups: a run from one device would get the moments of other parameters.
        """
        assert self.model is not None
        found = self.checkpoint_io.load_checkpoint(checkpoint_path)
        set_model_state_dict(self.model, found["state_dict"], options=WHOLE)
        for optimizer, state in zip(self.optimizers, found["optimizer_states"], strict=True):
            moments = by_name(state, self.model, optimizer)
            set_optimizer_state_dict(self.model, optimizer, moments, options=WHOLE)
        return found | {"state_dict": {}, "optimizer_states": []}


def by_name(
    state: dict[str, Any], model: nn.Module, optimizer: torch.optim.Optimizer
) -> dict[str, Any]:
    """Returns the state of an optimiser with names of parameters in place of their numbers."""
    names = {p: name for name, p in model.named_parameters()}
    name_of: dict[int, str] = {}
    groups = []
    for saved, own in zip(state["param_groups"], optimizer.param_groups, strict=True):
        ours = [names[p] for p in own["params"]]
        name_of |= zip(saved["params"], ours, strict=True)
        groups.append(saved | {"params": ours})
    moments = {name_of[number]: moment for number, moment in state["state"].items()}
    return {"state": moments, "param_groups": groups}


def shard(module: nn.Module, blocks: nn.ModuleList, mesh: DeviceMesh) -> None:
    """Splits the parameters of `module` among the devices of a mesh, block by block, then the
    rest. Raises UserError for a parameter that two layers share.
    """
    if len(list(module.parameters())) < len(list(module.named_parameters(remove_duplicate=False))):
        problem = "two layers have a parameter in common, which shards cannot"
        raise UserError("trainer.strategy", "fsdp", problem, "give trainer=ddp")
    for block in blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(module, mesh=mesh)
    register_fsdp_forward_method(module, "training_step")
