"""Draw the figures of a study from its rows, as SVG and PNG."""

import re
from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from extrap import figures
from extrap.cli.shared import argument, command, need_study
from extrap.figures.drawing.part import Part
from extrap.results.places import place
from extrap.results.rows import open_study
from extrap.utils.errors import UserError, choose
from extrap.utils.files import check_links

FLAGS = {
    "--list": "list the figures and end",
    "--analytic": "draw figures that need no study: --analytic [FIGURE ...]",
    "--pdf": "draw PDF as well",
}
UNITS = {"in": 1.0, "cm": 2.54, "mm": 25.4}


def words(names: str) -> tuple[str, ...]:
    """Returns names with commas between as a tuple."""
    return tuple(names.split(","))


def inches(size: str) -> float:
    """Returns a width in inches. Raises UserError for anything but a number from 2 to 40 inches
    with its unit.
    """
    found = re.fullmatch(r"([0-9]*\.?[0-9]+)(in|cm|mm)", size)
    wide = float(found.group(1)) / UNITS[found.group(2)] if found else 0.0
    if not 2 <= wide <= 40:
        remedy = "give a number with in, cm or mm, such as 3.3in"
        raise UserError("--width", size, "expected 2in to 40in", remedy)
    return wide


def multiples(lengths: str) -> tuple[float, ...]:
    """Returns multiples of the training length, of `4` or `1,4,8`. Raises UserError for text."""
    try:
        return tuple(map(float, words(lengths)))
    except ValueError:
        problem = "expected multiples of the training length"
        raise UserError("--lengths", lengths, problem, "give numbers, such as 4 or 1,4,8") from None


FIGURES = "figures to draw; by default all figures that have rows"
SERIES = "draw these alone, such as rope,alibi+yarn: schemes, or series as extrap table has them"
PROTOCOLS = "draw the panels of these protocols alone, such as records; commas between"
LENGTHS = "draw these evaluation lengths alone, in training lengths, such as 4 or 1,4,8"
WIDTH = "fit figures to a page, such as 3.3in or 8.4cm; text keeps its size"


@command(
    "study? results plugins",
    argument("figures", metavar="FIGURE", nargs="*", help=FIGURES),
    *(argument(flag, action="store_true", help=says) for flag, says in FLAGS.items()),
    argument("--series", type=words, default=(), metavar="NAMES", help=SERIES),
    argument("--protocol", type=words, default=(), metavar="NAMES", help=PROTOCOLS),
    argument("--lengths", type=multiples, default=(), metavar="MULTIPLES", help=LENGTHS),
    argument("--width", type=inches, metavar="SIZE", help=WIDTH),
)
def main(args: Namespace) -> "str | list[Path]":
    part = Part(args.series, args.protocol, args.lengths)
    form = Form(part, args.width, (*figures.KINDS, *["pdf"] * args.pdf), args.plugins)
    if args.list:
        return listing(args.analytic, form.plugins)
    if args.analytic:
        return plot_analytic(args.results, [*filter(None, [args.study]), *args.figures], form)
    return plot(args.results, need_study(args), args.figures, form)


class Form(NamedTuple):
    """The part to draw, the width and formats of the files, and packages with more figures."""

    part: Part = Part()
    width: float | None = None
    kinds: tuple[str, ...] = figures.KINDS
    plugins: Sequence[str] = ()

    @property
    def folder(self) -> tuple[str, ...]:
        """The folder of the files: a part of a figure never replaces the whole figure."""
        whole = self.part == Part() and self.width is None
        return ("figures",) if whole else ("figures", "paper")


PLAIN = Form()


def listing(formulas: bool = False, plugins: Sequence[str] = ()) -> str:
    """Returns the name, caption and rows of every figure."""
    known = figures.available(plugins, formulas)
    wide, lines = max(map(len, known), default=0), []
    for name, figure in known.items():
        lines.append(f"{name:{wide}}  {figures.caption(figure)}")
        lines += [f"{'':{wide}}  rows: {figures.needed(figure)}"] if not formulas else []
    return "\n".join(lines)


def plot_analytic(results: Path, names: list[str], form: Form = PLAIN) -> list[Path]:
    """Draws the named figures that need no rows, or all of them, into `results/analytic/figures`;
    returns the files.

    Raises UserError for an unknown one, and for a link where they are kept.
    """
    known = figures.available(form.plugins, formulas=True)
    _check_names(names, known, form.plugins)
    check_links(results / "analytic")
    return [
        path
        for name in names or known
        for path in figures.save(
            figures.image(partial(figures.drawn, known[name]), form.width, form.kinds),
            results.joinpath("analytic", *form.folder, name),
        )
    ]


def plot(results: Path, study: str, names: list[str], form: Form = PLAIN) -> list[Path]:
    """Draws the named figures of a study, or all figures that have rows, into
    `results/<study>/figures` (`figures/paper` for a part or a width); returns the files.

    Raises UserError for an unknown study, series or figure, for mixed corpora, and if a named
    figure, or every figure, lacks its rows.
    """
    known = figures.available(form.plugins)
    _check_names(names, known, form.plugins)
    rows = form.part.of_study(open_study(results, study))
    folder = place(results, study)
    check_links(folder)
    drawn = []
    for name in names or known:
        whole = figures.with_beside(known[name], rows, partial(_other, results))
        part = form.part.of_figure(known[name], whole)
        contents = figures.render(known[name], part, form.width, form.kinds)
        if contents is not None:
            drawn += figures.save(contents, folder.joinpath(*form.folder, name))
        elif names and figures.served(known[name], whole):
            problem = "no panels of these protocols and lengths"
            raise UserError("FIGURE", name, problem, "choose others, or draw all panels")
        elif names:
            problem = f"no rows with {figures.needed(known[name])} in study {study}"
            made = f"`{figures.command(known[name], study)}` makes them"
            raise UserError(name, problem=problem, remedy=made)
    if not drawn:
        remedy = f"figures are {', '.join(known)}"
        raise UserError("STUDY", study, "no figure draws its rows", remedy)
    return drawn


def _other(results: Path, study: str) -> pd.DataFrame | None:
    """Returns the rows of another study, None if it has no rows."""
    return open_study(results, study) if (place(results, study) / "rows").is_dir() else None


def _check_names(names: list[str], known: dict, plugins: Sequence[str]) -> None:
    own = "" if plugins else "; a figure of your own needs --plugins my_package"
    if unknown := [name for name in names if name not in known]:
        raise UserError("FIGURE", unknown[0], "no such figure", choose(unknown[0], known) + own)
