"""What training leaves on the disk: written as a whole, read as data and never as code, refused by name where it is damaged."""

import io
import zipfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from extrap import atomic
from extrap.disk import fault
from extrap.errors import UserError
from extrap.runs import Run, read_json


class Damaged(Exception):
    """A file of a run that is not what training wrote there, and why."""

    def __init__(self, path: Path, why: str):
        super().__init__(f"{path}: {why}")
        self.path = path


def save(content: Any, path: Path) -> None:
    """torch.save, whole and synced or not at all."""
    whole = io.BytesIO()
    torch.save(content, whole)
    atomic.replace(path, whole.getvalue())


def load(path: Path, map_location: Any = "cpu") -> Any:
    """What `save` wrote. Raises Damaged for anything else, code and flipped bits among it; OSError where the disk fails."""
    try:
        if not path.is_file():
            raise Damaged(path, "not a file")
        with zipfile.ZipFile(path) as parts:  # torch itself does not look at the checksums
            if (wrong := parts.testzip()) is not None:
                raise Damaged(path, f"damaged in {wrong}")
        return torch.load(path, map_location=map_location, weights_only=True)
    except Damaged:
        raise
    except Exception as error:  # a damaged file can break unzipping, unpickling and rebuilding in any way
        if fault(error):
            raise
        raise Damaged(path, f"not readable as tensors and plain values ({type(error).__name__})") from None


def trained_weights(run: Run, module: nn.Module) -> dict[str, Tensor]:
    """The weights of a finished run for its model. Raises UserError where they are not what training left."""
    try:
        if not run.intact(run.weights):
            raise Damaged(run.weights, "changed since training ended")
        found = load(run.weights)
        check_weights(found, module, run.weights)
    except Damaged as damaged:
        raise UserError(f"{damaged}; delete {run.weights}, and the same command trains the run again") from None
    return found


def trained_curve(run: Run) -> list[dict[str, float]]:
    """The points of the training curve of a finished run. Raises UserError where they are not what training left."""
    points = read_json(run.curve).get("points")
    if not run.intact(run.curve) or not is_curve(points):
        raise UserError(f"{run.curve}: changed since training ended; delete {run.weights}, and the same command trains the run again")
    return points


def is_curve(points: Any) -> bool:
    """Whether this is a list of {"step": number, "part/metric": number, ...}."""
    return isinstance(points, list) and all(
        isinstance(point, dict) and "step" in point
        and all(isinstance(v, int | float) and (n == "step" or n.count("/") == 1) for n, v in point.items())
        for point in points
    )  # fmt: skip


def check_weights(found: Any, module: nn.Module, path: Path) -> None:
    """Raises Damaged unless `found` holds the weights of `module`: names, shapes, kinds of number."""
    expected = module.state_dict()
    if not isinstance(found, dict) or found.keys() != expected.keys():
        raise Damaged(path, "weights of another model")
    for name, tensor in expected.items():
        if not isinstance(found[name], Tensor) or (found[name].shape, found[name].dtype) != (tensor.shape, tensor.dtype):
            raise Damaged(path, f"{name} is not of shape {tuple(tensor.shape)}")
