"""Components as the file system lists them: a YAML in conf/ is all it takes to be under
contract.
"""

from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import torch
import yaml

from extrap.audit import contracts
from extrap.model.gpt import GPT
from extrap.model.scheme import Scheme, Shape
from extrap.runs.build import build

CONF = Path(__file__).parents[2] / "conf"
FOLDERS = [CONF]
PLUGINS: list[str] = []
"""What lies outside the repository and is put under contract with the rest (tests/conftest.py)."""


def names(group: str) -> list[str]:
    """Choices that are a constructor call each; one of several others (task=quick) is none."""
    files = (path for folder in FOLDERS for path in (folder / group).glob("*.yaml"))
    stems = sorted({path.stem for path in files})
    return [stem for stem in stems if "defaults" not in node(group, stem)]


def theirs() -> set[str]:
    """Returns the names of all choices outside the repository, whatever their group."""
    return {path.stem for folder in FOLDERS[1:] for path in folder.rglob("*.yaml")}


def node(group: str, name: str) -> dict:
    path = next(path for folder in FOLDERS if (path := folder / group / f"{name}.yaml").exists())
    return deepcopy(_read(path))


@cache  # each file of tests lists whole groups while it is collected
def _read(path: Path) -> dict:
    return yaml.safe_load(path.read_text())


def calls(given: Any, path: str = "") -> Iterator[tuple[str, dict]]:
    """Every constructor call of a configuration, nested ones too, and where it stands."""
    if isinstance(given, dict):
        if "_target_" in given:
            yield path, given
        for key, value in given.items():
            yield from calls(value, f"{path}.{key}")
    if isinstance(given, list):
        for value in given:
            yield from calls(value, path)


def made(options: dict, path: str, **given) -> Any:
    """What a configuration describes."""
    return build(options, path, PLUGINS, **given)


def scheme(name: str, shape: Shape, seed: int = 0, **options) -> Scheme:
    torch.manual_seed(seed)
    return made(node("scheme", name) | options, "scheme", shape=shape)


def gpt(name: str, seed: int = 0, dtype: torch.dtype = torch.float64, **shape) -> GPT:
    """A small GPT in float64 carrying a discovered scheme, every parameter of the scheme moved off
    its initial value.
    """
    made = Shape(**(contracts.SMALL | shape))
    return contracts.around(scheme(name, made, seed), dtype)
