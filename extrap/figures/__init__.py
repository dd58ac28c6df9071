"""Figures: each file with a `draw(rows) -> Figure` is one; its docstring's first line is the caption, `NEEDS` the rows it draws.

Where these are not all it takes, `enough(rows)` says whether there are enough, OF so in words, MAKE what the command that makes them adds.

The file system is the registry. Drawing is pure: the same rows give the same bytes, whatever matplotlibrc says.
"""

import io
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import matplotlib.style
import pandas as pd
from matplotlib.figure import Figure

from extrap.utils.files import replace
from extrap.figures.drawing.style import STYLE
from extrap.results.series import select

METADATA = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}


def available(package: str = __name__) -> dict[str, ModuleType]:
    """The figures of a package by name: those of rows here, those that follow from formulas alone in extrap.figures.analytic."""
    path = import_module(package).__path__
    modules = {found.name: import_module(f"{package}.{found.name}") for found in iter_modules(path)}
    return {name: module for name, module in modules.items() if hasattr(module, "draw")}


def caption(figure: ModuleType) -> str:
    """What a figure shows, in one line."""
    return figure.__doc__.strip().splitlines()[0]


def served(figure: ModuleType, rows: pd.DataFrame) -> bool:
    """Whether the rows that a figure needs are there; one that compares several of something says in `enough(rows)` whether they are."""
    found = select(rows, **figure.NEEDS)
    return len(found) > 0 and getattr(figure, "enough", lambda _: True)(found)


def needed(figure: ModuleType) -> str:
    """Which rows a figure draws, in words."""
    said = ", ".join(f"{column}={value}" for column, value in figure.NEEDS.items() if column != "seen")
    return said + getattr(figure, "OF", "")


def command(figure: ModuleType, study: str) -> str:
    """The command that makes the rows of a figure; MAKE holds the words that it needs beside the task."""
    task = "" if figure.NEEDS["task"] == "train" else f" task={figure.NEEDS['task']}"
    return f"extrap study={study}{task}" + getattr(figure, "MAKE", "")


def render(figure: ModuleType, rows: pd.DataFrame) -> dict[str, bytes] | None:
    """{"svg": bytes, "png": bytes} of a figure, or None where the rows that it needs are missing. Raises UserError for mixed corpora."""
    if not served(figure, rows):
        return None
    return image(lambda: figure.draw(rows))


def image(draw: Callable[[], Figure]) -> dict[str, bytes]:
    """{"svg": bytes, "png": bytes} of what is drawn in the common style."""
    with matplotlib.style.context(STYLE, after_reset=True):
        drawn, out = draw(), {}
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
