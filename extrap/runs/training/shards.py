"""One training whose weights, gradients and optimiser lie in shards, one for each process: FSDP2
(arXiv 2304.11277).

It begins with numbers in the first process alone: the others build a model without any (device
meta) and are sent their shards, one parameter at a time. Its checkpoints are those of one device,
whole and in one file, so that a run goes on in as many shards as there are, or in none. torch's
distributed checkpoint (DCP) would not gather them, but its files are pickles, which run code when
they are read (torch 2.13, checkpoint/filesystem.py), and nothing of a run folder may.
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

FROM_FIRST = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
"""Whole tensors in the first process, shards of them in all."""


class Shards(ModelParallelStrategy):
    """The strategy of `trainer.strategy=fsdp`: n shards."""

    def __init__(self, n: int):
        super().__init__(n, tensor_parallel_size=1, save_distributed_checkpoint=False)

    def load_checkpoint(
        self, checkpoint_path: str | Path, weights_only: bool | None = None
    ) -> dict[str, Any]:
        """What training goes on from. The first process reads it. Raises what keeps it from that,
        in all of them.

        Lightning's own way numbers parameters by their order in the model, an optimiser by that in
        its groups: a run begun on one device would be given the moments of other parameters.
        """
        assert self.model is not None
        found: dict[str, Any] | Exception = {}
        whole, moments = {}, []
        if self.global_rank == 0:
            try:
                found = self.checkpoint_io.load_checkpoint(checkpoint_path)
                whole, moments = found.pop("state_dict"), found.pop("optimizer_states")
            except Exception as error:
                found = error
        found = self.broadcast(found)
        if isinstance(found, Exception):
            raise found
        set_model_state_dict(self.model, whole, options=FROM_FIRST)
        for n, optimizer in enumerate(self.optimizers):
            state = by_name(moments[n], self.model, optimizer) if moments else {}
            set_optimizer_state_dict(self.model, optimizer, state, options=FROM_FIRST)
        return found | {"state_dict": {}, "optimizer_states": []}


def by_name(
    state: dict[str, Any], model: nn.Module, optimizer: torch.optim.Optimizer
) -> dict[str, Any]:
    """The state of an optimiser, as torch saves it, by names of parameters in place of numbers,
    which count parameters in the order of its groups.
    """
    names = {p: name for name, p in model.named_parameters()}
    order = [[names[p] for p in group["params"]] for group in optimizer.param_groups]
    groups = state["param_groups"]
    name_of = {
        number: name
        for group, ours in zip(groups, order, strict=True)
        for number, name in zip(group["params"], ours, strict=True)
    }
    return {
        "state": {name_of[number]: found for number, found in state["state"].items()},
        "param_groups": [
            group | {"params": ours} for group, ours in zip(groups, order, strict=True)
        ],
    }


def shard(module: nn.Module, blocks: nn.ModuleList, mesh: DeviceMesh) -> None:
    """Splits the parameters of `module` among the devices of a mesh, those of each block, then the
    rest, with the numbers that they have in the first process. Raises UserError for a parameter in
    two places, which would become two.
    """
    if len(list(module.parameters())) < len(list(module.named_parameters(remove_duplicate=False))):
        problem = "two layers have a parameter in common, which shards cannot"
        raise UserError("trainer.strategy", "fsdp", problem, "give trainer=ddp")
    whole = module.state_dict() if mesh.get_rank() == 0 else {}
    empty(module, "meta")
    for block in blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(module, mesh=mesh)
    register_fsdp_forward_method(module, "training_step")
    empty(module, mesh.device_type)
    set_model_state_dict(module, whole, options=FROM_FIRST)


def empty(module: nn.Module, device: str) -> None:
    """Parameters on a device in place of those of a module, without their numbers."""
    for part in module.modules():
        for name, p in list(part.named_parameters(recurse=False)):
            new = torch.empty_like(p.detach(), device=device)
            setattr(part, name, nn.Parameter(new, p.requires_grad))
