"""Figures: each file with a `draw(rows) -> Figure` is one; its docstring's first line is the caption, `NEEDS` the rows it draws.

The file system is the registry. Drawing is pure: the same rows give the same bytes, whatever matplotlibrc says.
"""

import io
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import matplotlib.style
import pandas as pd

from extrap.atomic import replace
from extrap.figures.look import STYLE
from extrap.series import select

METADATA = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}


def available() -> dict[str, ModuleType]:
    """The figures by name."""
    modules = {found.name: import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)}
    return {name: module for name, module in modules.items() if hasattr(module, "draw")}


def caption(figure: ModuleType) -> str:
    """What a figure shows, in one line."""
    return figure.__doc__.strip().splitlines()[0]


def render(figure: ModuleType, rows: pd.DataFrame) -> dict[str, bytes] | None:
    """{"svg": bytes, "png": bytes} of a figure, or None where the rows that it needs are missing. Raises UserError for mixed corpora."""
    if select(rows, **figure.NEEDS).empty:
        return None
    with matplotlib.style.context(STYLE, after_reset=True):
        drawn, out = figure.draw(rows), {}
        for kind, metadata in METADATA.items():
            buffer = io.BytesIO()
            drawn.savefig(buffer, format=kind, metadata=metadata)
            out[kind] = buffer.getvalue()
    return out


def save(contents: dict[str, bytes], path: Path) -> list[Path]:
    """Write a rendered figure to `path` with the ending of each format; returns the files."""
    files = [path.with_name(f"{path.name}.{kind}") for kind in contents]
    for file, content in zip(files, contents.values(), strict=True):
        replace(file, content)
    return files
