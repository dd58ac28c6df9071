"""A bound of what a checkpoint's configuration may build: about what its weights fill.

A configuration is a few numbers of somebody else. Ten million layers take hours and a width of 10^9
takes all memory before a missing tensor is noticed. torch reports every module and every parameter
as it is registered, on the device meta as well, so the bound holds whatever an architecture calls
its options.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch import Tensor, nn
from torch.nn.modules.module import (
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)

from extrap.utils.errors import UserError

MODULES, FREE_MODULES = 50, 10_000
"""Modules for each tensor of the files, and in addition."""

NUMBERS = 16
FREE_NUMBERS = 2**24
"""Numbers for each byte of the files, and in addition. Tied and loaded weights count twice."""

LAYERS = 10_000
"""Layers that a configuration may name; lists of one entry a layer are made before any module."""


def check_layers(settings: Mapping[str, Any], place: str) -> None:
    """Raises UserError for a config.json with an option of that name above LAYERS, at any depth."""
    for name, value in _entries(settings):
        if "layer" in name and isinstance(value, int) and value > LAYERS:
            problem = f"{name}={value}: expected at most {LAYERS:,}"
            raise UserError(place, problem=problem, remedy="fetch the checkpoint again")


def _entries(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        yield name, value
        if isinstance(value, Mapping):
            yield from _entries(value)


@contextmanager
def as_large_as(files: Iterable[Path], tensors: int, place: str) -> Iterator[None]:
    """Raises UserError for a model with far more modules or numbers than the files of its weights
    hold. tensors: of all files together.
    """
    size = sum(path.stat().st_size for path in files)
    left = {
        "modules": MODULES * tensors + FREE_MODULES,
        "numbers": NUMBERS * size + FREE_NUMBERS,
    }

    def spend(kind: str, amount: int) -> None:
        left[kind] -= amount
        if left[kind] < 0:
            problem = f"config.json describes far more {kind} than the weights fill"
            raise UserError(place, problem=problem, remedy="fetch the checkpoint again")

    def module_made(module: nn.Module, name: str, inner: nn.Module | None) -> None:
        spend("modules", 1)

    def parameter_made(module: nn.Module, name: str, given: Tensor | None) -> None:
        spend("numbers", 0 if given is None else given.numel())

    hooks = [
        register_module_module_registration_hook(module_made),
        register_module_parameter_registration_hook(parameter_made),
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
