"""Files of a training: extrap writes each as a whole, reads it as data, never as code, and rejects
a damaged one by its name.
"""

import io
import zipfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from extrap.runs.folder import Folder, Run, read_json
from extrap.utils import atomic
from extrap.utils.errors import UserError, disk_fault
from extrap.utils.untrusted import LARGER, fits_memory

CHANGED = "changed since training ended"


def damaged(path: Path, why: str, delete: Path | None = None) -> UserError:
    """Returns the error about a changed file of a training. delete: another file to delete."""
    remedy = f"delete {delete or path}, and the same command trains the run again"
    return UserError(path, problem=why, remedy=remedy)


def save(content: Any, path: Path) -> None:
    """Writes a file of torch.save, whole and synced or not at all."""
    whole = io.BytesIO()
    torch.save(content, whole)
    atomic.replace(path, whole.getvalue())


def load(path: Path, map_location: Any = "cpu") -> Any:
    """Reads a file of `save`. Raises UserError for any other, for code, for flipped bits and for
    an archive larger than its file; OSError if the disk fails.
    """
    try:
        if not path.is_file():
            raise damaged(path, "not a file")
        if not fits_memory(path):
            raise damaged(path, LARGER)
        with zipfile.ZipFile(path) as parts:  # torch itself does not look at the checksums
            if sum(member.file_size for member in parts.infolist()) > path.stat().st_size:
                raise damaged(path, "holds more than the bytes of its file")
            if (wrong := parts.testzip()) is not None:
                raise damaged(path, f"damaged in {wrong}")
        content = torch.load(path, map_location=map_location, weights_only=True)
        if not _plain(content):
            raise damaged(path, "holds tensors that are sparse or without numbers")
        return content
    except Exception as error:  # unzipping, unpickling and rebuilding fail in any way
        if isinstance(error, UserError) or disk_fault(error):
            raise
        why = f"not readable as tensors and plain values ({type(error).__name__})"
        raise damaged(path, why) from None


def _plain(content: Any) -> bool:
    """True if every tensor in these values holds all of its numbers."""
    left, seen = [content], set()
    while left:
        one = left.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, Tensor) and (one.layout != torch.strided or one.is_meta):
            return False
        if isinstance(one, dict):
            left += one.values()
        elif isinstance(one, list | tuple | set):
            left += one
    return True


def trained_weights(run: Folder, module: nn.Module, dtype: torch.dtype) -> dict[str, Tensor]:
    """Returns the weights of a finished run for its model, in numbers of `dtype`. Raises UserError
    if they changed since training.
    """
    if not run.intact(run.weights):
        raise damaged(run.weights, CHANGED)
    weights = load(run.weights)
    check_weights(weights, module, run.weights, dtype)
    return weights


def curve_rows(run: Run) -> list[dict[str, Any]]:
    """Returns the training curve as rows, and the first step with a retrieval accuracy of 90 %.
    Raises UserError if the curve changed since training.
    """
    points: Any = read_json(run.curve).get("points")
    if points is None or not run.intact(run.curve):
        raise damaged(run.curve, CHANGED, run.weights)
    state = run.state
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


def check_weights(
    weights: Any, module: nn.Module, path: Path, dtype: torch.dtype | None = None
) -> None:
    """Raises UserError unless weights have the names, shapes and types, or `dtype`, of a module."""
    expected = {
        name: (tensor.shape, dtype if dtype and tensor.is_floating_point() else tensor.dtype)
        for name, tensor in module.state_dict().items()
    }
    found = weights if isinstance(weights, dict) else {}
    about = {n: (getattr(t, "shape", None), getattr(t, "dtype", None)) for n, t in found.items()}
    if about != expected:
        raise damaged(path, "weights of another model")
