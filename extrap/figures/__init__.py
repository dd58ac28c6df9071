"""Figures: each module with a `draw(rows) -> Figure` and NEEDS is one; README.md lists its names.

The file system is the registry: this folder, `figures` of a study of extrap.studies, and `figures`
of a plug-in.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import matplotlib.style
import pandas as pd
from matplotlib.figure import Figure

from extrap.figures.drawing.caption import environment
from extrap.figures.drawing.dimensions import fitted, noted
from extrap.figures.drawing.fitting import made_for
from extrap.figures.drawing.formats import WRITERS
from extrap.figures.drawing.paper import FAMILIES, HOUSE, Paper
from extrap.figures.drawing.style import RC, styled
from extrap.results.schema import SCHEMA
from extrap.results.series import select, steps
from extrap.utils.atomic import replace
from extrap.utils.docs import docstring
from extrap.utils.errors import UserError, first_line
from extrap.utils.plugins import fault, imported

KINDS = ("svg", "png")
STUDIES = "extrap.studies"
"""Packages with figures of their own, on a floor above."""

PLACES = "look at their protocols, lengths, extensions and runs, or draw other figures by name"
FORMULAS = f"{STUDIES}.analytic"
"""Its figures import torch, which figures of rows do without."""


def available(plugins: Iterable[str] = (), formulas: bool = False) -> dict[str, Any]:
    """Returns the figures by name: of this package, of the studies of extrap, of plug-ins.

    Args:
        plugins: packages with figures of their own, in `my_package.figures`
        formulas: returns the figures that need no rows instead

    Raises UserError for a missing package, for a mistake in one of its figures and for a name that
    is taken.
    """
    known = _of(import_module(__name__), import_module)
    inside = iter_modules(import_module(STUDIES).__path__, f"{STUDIES}.")
    own = [one.name for one in inside if formulas or one.name != FORMULAS]
    for package in dict.fromkeys([*own, *plugins]):
        option = f"plugins={package}"
        if imported(package, option) is None:
            raise UserError(option, problem="no such package here")
        read = partial(imported, option=option)
        if (folder := read(f"{package}.figures")) is None:
            continue
        for name, figure in _of(folder, read).items():
            problem = "the name is taken; give another one" if name in known else _lacking(figure)
            if problem:
                raise UserError(f"{option}: {figure.__name__}: {problem}")
            known[name] = figure
    return {name: known[name] for name in sorted(known) if bool(known[name].NEEDS) != formulas}


def _lacking(figure: Any) -> str:
    """Returns `problem; remedy` of a figure without draw, a caption or a task in NEEDS."""
    if not callable(getattr(figure, "draw", None)):
        return "no draw; define draw(rows), which returns a figure of matplotlib"
    if not caption(figure):
        return "no caption; begin it with a docstring"
    needs = getattr(figure, "NEEDS", None)
    if isinstance(needs, dict) and {*needs} <= {*SCHEMA, "seen"} and (not needs or "task" in needs):
        return ""
    return (
        "no NEEDS, or one without a task or of other columns; "
        'give NEEDS = {"task": ..., "metric": ...}, values of columns of the rows'
    )


def _of(folder: ModuleType, read: Callable[[str], Any]) -> dict[str, Any]:
    inside = iter_modules(getattr(folder, "__path__", ()))
    modules = {one.name: read(f"{folder.__name__}.{one.name}") for one in inside}
    found = {name: module for name, module in modules.items() if _draws(module)}
    for module in modules.values():
        found |= getattr(module, "FIGURES", {})
    return found


def _draws(module: ModuleType) -> bool:
    """True for the module of a figure; a module with neither of both helps others."""
    return hasattr(module, "draw") or hasattr(module, "NEEDS")


def caption(figure: Any) -> str:
    """Returns the caption of a figure, in one line."""
    return " ".join(docstring(figure).split("\n\n")[0].split())


def served(figure: Any, rows: pd.DataFrame) -> bool:
    """True if the rows that a figure needs are there, and `enough` of them if it says so."""
    if (other := getattr(figure, "BESIDE", None)) is not None:
        own = rows["study"].to_numpy()
        if other not in own:
            return False
        rows = rows[own != other]
    found = select(rows, **figure.NEEDS)
    return len(found) > 0 and getattr(figure, "enough", lambda _: True)(found)


def with_beside(
    figure: Any, rows: pd.DataFrame, read: Callable[[str], pd.DataFrame | None]
) -> pd.DataFrame:
    """Returns the rows of a study and of the study that a figure draws beside it. read:
    returns the rows of a study by its name, None if there is no such study.
    """
    other = getattr(figure, "BESIDE", None)
    if other is None or (found := read(other)) is None or other in set(rows["study"]):
        return rows
    return pd.concat([rows, found], ignore_index=True)


def needed(figure: Any) -> str:
    """Returns which rows a figure draws, in words."""
    columns = [f"{column}={value}" for column, value in figure.NEEDS.items() if column != "seen"]
    return ", ".join(columns) + getattr(figure, "OF", "")


def command(figure: Any, study: str) -> str:
    """Returns the command that makes the rows of a figure: its task and the words of MAKE. A list
    of values makes a sweep.
    """
    task = figure.NEEDS["task"]
    make = getattr(figure, "MAKE", "")
    named = "" if task == "train" or " task=" in make else f" task={task}"
    words = f"extrap study={study}{named}{make}"
    return words + (" -m" if "," in words else "")


def render(
    figure: Any, rows: pd.DataFrame, paper: Paper = HOUSE, kinds=KINDS
) -> dict[str, bytes] | None:
    """Returns {ending: bytes} of a figure, None if the rows that it needs are missing; paper and
    kinds as in `image`. Raises UserError for mixed corpora, and as `pictured`.
    """
    with pictured(figure):
        return written(figure, rows, paper=paper, kinds=kinds) if served(figure, rows) else None


def written(
    figure: Any, *rows: pd.DataFrame, paper: Paper = HOUSE, kinds=KINDS
) -> dict[str, bytes]:
    """Returns `image` of a figure with its rows; of a bare one with its caption, ending `tex`."""
    name = figure.__name__.rpartition(".")[2]
    return image(partial(drawn, figure, *rows), paper, kinds, (name, caption(figure)))


@contextmanager
def pictured(figure: Any) -> Iterator[None]:
    """Raises UserError in place of any other exception of a figure of ours: rows may hold
    protocols, lengths and runs between which it can draw nothing.
    """
    try:
        yield
    except (UserError, OSError):
        raise
    except Exception as error:
        name = figure.__name__.rpartition(".")[2]
        problem = f"figure {name} finds no picture in them ({first_line(error)})"
        raise UserError("rows", problem=problem, remedy=PLACES) from error


def drawn(figure: Any, *rows: pd.DataFrame) -> Figure:
    """Returns a figure, drawn. Raises UserError for a mistake inside a figure of a plug-in."""
    plugin = figure.__name__.partition(".")[0]
    uneven = steps(rows[0]) if rows else ""
    try:
        with noted(f"runs {uneven}" if uneven else ""), styled(*rows):
            made = figure.draw(*rows)
    except UserError:
        raise
    except Exception as error:
        if plugin == __name__.partition(".")[0]:
            raise
        raise fault(error, f"plugins={plugin}", [plugin]) from error
    if not isinstance(made, Figure):
        problem = f"{figure.__name__}: draw returned {type(made).__name__}"
        raise UserError(
            f"plugins={plugin}", problem=problem, remedy="return a figure of matplotlib"
        )
    return made


def image(
    draw: Callable[[], Figure],
    paper: Paper = HOUSE,
    kinds=KINDS,
    named: tuple[str, str] = ("figure", ""),
) -> dict[str, bytes]:
    """Returns {ending: bytes} of a figure in the common style. An ending is a kind; a figure in
    panels has several of each, `-1.pdf` for the first panel; a bare figure has a caption, `tex`.

    Args:
        draw: makes the figure.
        paper: the page that it is drawn for.
        kinds: of svg, png, pdf, pgf.
        named: the name of its files, and the sentence of its caption.
    Raises:
        UserError: for a figure that does not fit its page.
    """
    found = {}
    with matplotlib.style.context(RC | {"font.family": FAMILIES[paper.family]}, after_reset=True):
        made = made_for(paper, draw)
        for name, one in made.items():
            files = {kind: WRITERS[kind](one, paper.scale) for kind in kinds}
            found |= {f"{name}{kind}": content for kind, content in files.items()}
    if paper.bare:
        first = next(iter(made.values()))
        wide = first.get_figwidth() * paper.scale
        found["tex"] = environment(first, *named, found, wide).encode()
    return found


def shown(draw: Callable[[], Figure], width: float | None = None) -> Figure:
    """Returns a figure in the common style that a notebook shows by itself."""
    with matplotlib.style.context(RC, after_reset=True), fitted(width):
        made = draw()
        picture = WRITERS["png"](made)
    made._repr_png_ = lambda: picture  # type: ignore[attr-defined]
    return made


def save(contents: dict[str, bytes], path: Path) -> list[Path]:
    """Writes a rendered figure to `path` with the ending of each file; returns the files."""
    files = [
        path.with_name(f"{path.name}{'' if ending.startswith('-') else '.'}{ending}")
        for ending in contents
    ]
    for file, content in zip(files, contents.values(), strict=True):
        replace(file, content)
    return files
