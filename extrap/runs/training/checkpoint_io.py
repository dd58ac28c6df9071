"""The checkpoints that an interrupted training continues from."""

from pathlib import Path
from typing import Any

import torch
from lightning.fabric.plugins.io.torch_io import TorchCheckpointIO
from torch import Tensor, nn

from extrap.runs.checkpoint import Damaged, check_weights, is_curve, load, save

PARTS = {
    "global_step": int,
    "pytorch-lightning_version": str,
    "state_dict": dict,
    "loops": dict,
    "callbacks": dict,
    "optimizer_states": list,
    "lr_schedulers": list,
}


class Checkpoints(TorchCheckpointIO):
    """How Lightning writes and reads the checkpoints of `module`, which ends after `steps` steps.

    Lightning's own way neither waits for the disk nor writes beside the file that it replaces.
    """

    def __init__(self, module: nn.Module, steps: int):
        self.module, self.steps = module, steps

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: str | Path, storage_options: Any = None
    ) -> None:
        save(checkpoint, Path(path))

    def load_checkpoint(
        self, path: str | Path, map_location: Any = "cpu", weights_only: bool | None = True
    ) -> dict[str, Any]:
        """Raises Damaged for what does not continue this training. `weights_only` is not asked:
        nothing here is ever code.
        """
        path = Path(path)
        found = load(path, map_location)
        if not isinstance(found, dict) or not all(
            isinstance(found.get(name), kind) for name, kind in PARTS.items()
        ):
            raise Damaged(path, "not a checkpoint of a training")
        check_weights(found["state_dict"], self.module, path)
        if not 0 < found["global_step"] <= self.steps:
            raise Damaged(path, f"stands at step {found['global_step']} of {self.steps}")
        for state in found["optimizer_states"]:
            _check_moments(state, [p for p in self.module.parameters() if p.requires_grad], path)
        _check_callbacks(found["callbacks"], path)
        return found


def _check_moments(state: Any, parameters: list[Tensor], path: Path) -> None:
    """Raises Damaged where what the optimiser remembers of its parameters is not of
    their shapes.
    """
    try:
        shapes = {tuple(p.shape) for p in parameters} | {()}
        wrong = any(
            tuple(m.shape) not in shapes
            for moments in state["state"].values()
            for m in moments.values()
        )
        groups = sum(len(group["params"]) for group in state["param_groups"])
    except (KeyError, TypeError, AttributeError):
        wrong, groups = True, 0
    if wrong or groups != len(parameters):
        raise Damaged(path, "the state of another optimiser")


def _check_callbacks(states: Any, path: Path) -> None:
    """Raises Damaged where the curve so far or the state of the random numbers is not there or of
    another kind.
    """
    try:
        cpu, *devices = states["RandomState"]["rng"]
        wrong = not is_curve(states["Curve"]["points"]) or cpu.shape != torch.get_rng_state().shape
        wrong = wrong or any(state.dtype != torch.uint8 for state in (cpu, *devices))
    except (KeyError, TypeError, AttributeError, ValueError):
        wrong = True
    if wrong:
        raise Damaged(path, "no training curve or no state of the random numbers")
