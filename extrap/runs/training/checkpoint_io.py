"""The checkpoints that an interrupted training continues from."""

from pathlib import Path
from typing import Any

from lightning.fabric.plugins.io.torch_io import TorchCheckpointIO
from torch import nn

from extrap.runs.checkpoint import Damaged, check_weights, load, save


class Checkpoints(TorchCheckpointIO):
    """How Lightning writes and reads the checkpoints of `module`.

    Lightning's own way neither waits for the disk nor writes beside the file that it replaces.
    """

    def __init__(self, module: nn.Module):
        self.module = module

    def save_checkpoint(
        self, checkpoint: dict[str, Any], path: str | Path, storage_options: Any = None
    ) -> None:
        save(checkpoint, Path(path))

    def load_checkpoint(
        self, path: str | Path, map_location: Any = "cpu", weights_only: bool | None = True
    ) -> dict[str, Any]:
        """Reads a checkpoint, as data whatever `weights_only` says. Raises Damaged if it is none of
        this model.
        """
        path = Path(path)
        checkpoint = load(path, map_location)
        if not isinstance(checkpoint, dict) or "state_dict" not in checkpoint:
            raise Damaged(path, "not a checkpoint of a training")
        check_weights(checkpoint["state_dict"], self.module, path)
        return checkpoint
