"""Demonstrations: each file has show() -> text, or show(run) where a trained run can be shown. The
file system is the registry.
"""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from extrap.utils.docs import docstring


def available() -> dict[str, ModuleType]:
    """The demonstrations by name."""
    modules = {
        found.name: import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)
    }
    return {name: module for name, module in modules.items() if hasattr(module, "show")}


def caption(module: ModuleType) -> str:
    """What a demonstration shows, in one line."""
    return " ".join(docstring(module).split("\n\n")[0].split())


def aligned(rows: list[list[str]]) -> str:
    """Lines of right-aligned columns, the first row being their heads."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
