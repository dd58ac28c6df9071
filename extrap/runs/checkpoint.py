"""What training leaves on the disk: written as a whole, read as data and never as code, refused by
name where it is damaged.
"""

import io
import zipfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from extrap.runs.folder import Run, read_json
from extrap.utils import files as atomic
from extrap.utils.errors import UserError, disk_fault


class Damaged(Exception):
    """A file of a run that is not what training wrote there, and why."""

    def __init__(self, path: Path, why: str):
        super().__init__(path, why)  # both, so that one process can send it to another
        self.path, self.why = path, why

    def __str__(self) -> str:
        return f"{self.path}: {self.why}"


def save(content: Any, path: Path) -> None:
    """torch.save, whole and synced or not at all."""
    whole = io.BytesIO()
    torch.save(content, whole)
    atomic.replace(path, whole.getvalue())


def load(path: Path, map_location: Any = "cpu") -> Any:
    """What `save` wrote. Raises Damaged for anything else, code and flipped bits among it; OSError
    where the disk fails.
    """
    try:
        if not path.is_file():
            raise Damaged(path, "not a file")
        with zipfile.ZipFile(path) as parts:  # torch itself does not look at the checksums
            _check_sizes(parts, path)
            if (wrong := parts.testzip()) is not None:
                raise Damaged(path, f"damaged in {wrong}")
        return torch.load(path, map_location=map_location, weights_only=True)
    except Damaged:
        raise
    except (
        Exception
    ) as error:  # a damaged file can break unzipping, unpickling and rebuilding in any way
        if disk_fault(error):
            raise
        raise Damaged(
            path, f"not readable as tensors and plain values ({type(error).__name__})"
        ) from None


def _check_sizes(parts: zipfile.ZipFile, path: Path) -> None:
    """Raises Damaged for an archive that holds more than its own bytes, packed or by members that
    overlap, and for one whose pickle asks for memory by a number alone. `save` writes neither.
    """
    members = parts.infolist()
    if sum(member.file_size for member in members) > path.stat().st_size:
        raise Damaged(path, "holds more than the bytes of its file")
    if any(
        b"bytearray" in parts.read(member) for member in members if member.filename.endswith(".pkl")
    ):
        raise Damaged(path, "not tensors and plain values alone")


def trained_weights(run: Run, module: nn.Module, dtype: torch.dtype) -> dict[str, Tensor]:
    """The weights of a finished run for its model, kept in numbers of `dtype`. Raises UserError
    where they are not what training left.
    """
    try:
        if not run.intact(run.weights):
            raise Damaged(run.weights, "changed since training ended")
        found = load(run.weights)
        check_weights(found, module, run.weights, dtype)
    except Damaged as damaged:
        raise UserError(
            f"{damaged}; delete {run.weights}, and the same command trains the run again"
        ) from None
    return found


def trained_curve(run: Run) -> list[dict[str, float]]:
    """The points of the training curve of a finished run. Raises UserError where they are not what
    training left.
    """
    points: Any = read_json(run.curve).get("points")
    if not run.intact(run.curve) or not is_curve(points):
        raise UserError(
            f"{run.curve}: changed since training ended; delete {run.weights}, and the same "
            "command trains the run again"
        )
    return points


def curve_rows(run: Run) -> list[dict[str, Any]]:
    """The training curve as rows, and the first step with a running retrieval accuracy of 90 %."""
    points, state = trained_curve(run), run.state
    status = {"status": "diverged" if state["state"] == "diverged" else "ok"}
    out: list[dict[str, Any]] = []
    for point in points:
        for name, value in point.items():
            if name != "step":
                part, metric = name.split("/")
                at = {"axis": "step", "at": point["step"], "value": value}
                out.append({"protocol": part, "metric": metric} | at | status)
    if state["state"] == "diverged":
        out.append({"metric": "diverged_at", "value": state["steps"]} | status)
    learned = [p["step"] for p in points if p.get("retrieval/accuracy", 0) >= 0.9]
    if learned:
        first = {"protocol": "retrieval", "metric": "steps_to_90", "value": learned[0]}
        out.append(first | status)
    return out


def is_curve(points: Any) -> bool:
    """Whether this is a list of {"step": number, "part/metric": number, ...}."""
    return isinstance(points, list) and all(
        isinstance(point, dict)
        and "step" in point
        and all(
            isinstance(v, int | float) and (n == "step" or n.count("/") == 1)
            for n, v in point.items()
        )
        for point in points
    )


def check_weights(
    found: Any, module: nn.Module, path: Path, dtype: torch.dtype | None = None
) -> None:
    """Raises Damaged unless `found` holds the weights of `module`: names, shapes, kinds of number,
    which are `dtype` where it is given for all that are not whole.
    """
    expected = module.state_dict()
    if not isinstance(found, dict) or found.keys() != expected.keys():
        raise Damaged(path, "weights of another model")
    for name, tensor in expected.items():
        kind = dtype if dtype is not None and tensor.is_floating_point() else tensor.dtype
        there = found[name]
        if not isinstance(there, Tensor) or there.shape != tensor.shape:
            raise Damaged(path, f"{name} is not of shape {tuple(tensor.shape)}")
        if there.dtype != kind:
            raise Damaged(path, f"{name} is not of {str(kind).removeprefix('torch.')}")
