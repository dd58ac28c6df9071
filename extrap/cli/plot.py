"""Draw the figures of a study from its rows, as SVG and PNG, or for the page of a paper."""

import re
import sys
from argparse import Namespace
from collections.abc import Container, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from extrap import figures
from extrap.cli.part import CHOICES, words
from extrap.cli.shared import argument, command, need_study
from extrap.figures.drawing.caption import READ
from extrap.figures.drawing.formats import WRITERS
from extrap.figures.drawing.naming import Naming
from extrap.figures.drawing.paper import HOUSE, LEGENDS, PAPERS, Paper, font, page
from extrap.figures.drawing.part import Chosen
from extrap.results.places import has_rows, place
from extrap.results.rows import open_study, studies
from extrap.results.together import together, travels
from extrap.utils.atomic import check_links
from extrap.utils.errors import UserError, choose, printable

FLAGS = {
    "--list": "list the figures and end",
    "--analytic": "draw figures that need no study: --analytic [FIGURE ...]",
    "--pdf": "draw PDF as well",
    "--bare": "no title and no note: print the caption as LaTeX, and write it beside the figure",
    "--panels": "a file for each panel",
}
UNITS = {"in": 1.0, "cm": 2.54, "mm": 25.4}


def inches(size: str, option: str = "--width") -> float:
    """Returns a size in inches. Raises UserError for anything but a number from 2 to 40 inches
    with its unit.
    """
    found = re.fullmatch(r"([0-9]*\.?[0-9]+)(in|cm|mm)", size)
    wide = float(found.group(1)) / UNITS[found.group(2)] if found else 0.0
    if not 2 <= wide <= 40:
        remedy = "give a number with in, cm or mm, such as 3.3in"
        raise UserError(option, size, "expected 2in to 40in", remedy)
    return wide


def kinds(names: str) -> tuple[str, ...]:
    """Returns formats of files. Raises UserError for an unknown one."""
    return _each("--format", names, WRITERS)


def legends(names: str) -> tuple[str, ...]:
    """Returns what stands behind names of lines. Raises UserError for an unknown word."""
    return _each("--legend", names, LEGENDS)


def _each(option: str, names: str, known) -> tuple[str, ...]:
    for name in words(names):
        if name not in known:
            raise UserError(option, name, "unknown", choose(name, known))
    return words(names)


FIGURES = "figures to draw; by default all figures that have rows"
WIDTH = "fit figures to a page, such as 3.3in or 8.4cm; text keeps its size"
HEIGHT = "inches that figures have at most, such as 9in; panels become shorter"
PAPER = f"page of a template: {', '.join(PAPERS)}; single: a column, double: two columns"
FONT = "points of names of axes, or a font (sans, serif, times), or both, such as 'times 9'"
FORMAT = f"formats of the files: {', '.join(WRITERS)}; commas between"
LEGEND = "behind names of lines: n, the number of seeds; se, the standard error over seeds"


@command(
    "study? results plugins conf",
    argument("figures", metavar="FIGURE", nargs="*", help=FIGURES),
    *(argument(flag, action="store_true", help=says) for flag, says in FLAGS.items()),
    argument("--paper", type=page, metavar="PAGE", help=PAPER),
    argument("--width", type=inches, metavar="SIZE", help=WIDTH),
    argument("--height", type=partial(inches, option="--height"), metavar="SIZE", help=HEIGHT),
    argument("--font", type=font, default={}, metavar="FONT", help=FONT),
    argument("--format", type=kinds, metavar="NAMES", help=FORMAT),
    *CHOICES,
    argument("--legend", type=legends, default=(), metavar="NAMES", help=LEGEND),
)
def main(args: Namespace) -> "str | list[str]":
    part = Chosen(args.series, args.protocol, args.lengths)
    form = Form(part, _paper(args), _kinds(args), args.plugins, _naming(args))
    if args.bare and {*READ}.isdisjoint(form.kinds):
        problem = f"its caption is for LaTeX, which reads no {', '.join(form.kinds)}"
        raise UserError(
            "--bare", problem=problem, remedy=f"add one of {', '.join(READ)} to --format"
        )
    if args.list:
        return listing(args.analytic, form.plugins)
    if args.analytic:
        for name in ("series", "protocol", "lengths", "label", "order"):
            if getattr(args, name):
                problem = "chooses among the rows of a study, and --analytic needs none"
                raise UserError(f"--{name}", problem=problem, remedy="leave it out")
        drawn = plot_analytic(args.results, [*filter(None, [args.study]), *args.figures], form)
    else:
        known = figures.available(args.plugins)
        studies, names = _split(args.results, [need_study(args), *args.figures], known)
        drawn = plot(args.results, studies, names, form)
    captions = [path.read_text(encoding="utf-8") for path in drawn if path.suffix == ".tex"]
    return [*map(str, drawn), *captions]


def _paper(args: Namespace) -> Paper:
    """Returns the page of a template, with what is set by hand."""
    given = {"width": args.width, "height": args.height} | args.font
    given |= {"bare": args.bare, "panels": args.panels, "legend": args.legend}
    return (args.paper or HOUSE)._replace(**{name: one for name, one in given.items() if one})


def _kinds(args: Namespace) -> tuple[str, ...]:
    """Returns the formats; a paper takes PDF."""
    usual = ("pdf",) if args.paper else figures.KINDS
    return tuple(dict.fromkeys([*(args.format or usual), *["pdf"] * args.pdf]))


def _naming(args: Namespace) -> Naming:
    folders = (args.config_dir,) if args.config_dir else ()
    return Naming(dict(args.label), args.order, folders)


class Form(NamedTuple):
    """The part to draw, the page, the formats of the files, packages with more figures, and what
    series are called.
    """

    part: Chosen = Chosen()
    paper: Paper = HOUSE
    kinds: tuple[str, ...] = figures.KINDS
    plugins: Sequence[str] = ()
    naming: Naming = Naming()

    @property
    def folder(self) -> tuple[str, ...]:
        """The folder of the files: a part of a figure never replaces the whole figure."""
        whole = (self.part, self.paper, self.naming) == (Chosen(), HOUSE, Naming())
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
    drawn = []
    for name in names or known:
        contents = figures.written(known[name], paper=form.paper, kinds=form.kinds)
        drawn += figures.save(contents, results.joinpath("analytic", *form.folder, name))
    return drawn


def _split(results: Path, words: list[str], figures: Container[str]) -> tuple[list[str], list[str]]:
    """Returns the studies and files of rows at the beginning of some words, and the figures behind
    them: the first word is a study in any case, and any other that names a figure is that figure.
    """
    known = studies(results)

    def drawn(word: str) -> bool:
        here = word in known or Path(word).exists() or travels(results, word)
        return word in figures or not here

    others = (n for n, word in enumerate(words) if n and drawn(word))
    end = next(others, len(words))
    return words[:end], words[end:]


def plot(
    results: Path, study: str | Sequence[str], names: list[str], form: Form = PLAIN
) -> list[Path]:
    """Draws the named figures of a study, or all figures that have rows, into
    `results/<study>/figures` (`figures/paper` for a part or a width, `figures/beside-<other>` for
    several studies); returns the files.

    Of all figures, one that cannot be drawn is left out, with a line on stderr. Raises UserError
    for an unknown study, series or figure, for mixed corpora, and if a named figure, or every
    figure, cannot be drawn.
    """
    known = figures.available(form.plugins)
    _check_names(names, known, form.plugins)
    first, *others = [study] if isinstance(study, str) else study
    rows = form.part.of_study(together(results, [first, *others]))
    form.naming.check(rows)
    folder, asked = place(results, first), ", ".join([first, *others])
    beside = "-".join(["beside", *(Path(other).stem for other in others)])
    into = (*form.folder, beside) if others else form.folder
    check_links(folder)
    drawn: list[Path] = []
    failed: dict[str, UserError] = {}
    for name in names or known:
        whole = figures.with_beside(known[name], rows, partial(_other, results))
        part = form.part.of_figure(known[name], whole)
        try:
            with form.naming.in_force(), form.part.in_force():
                contents = figures.render(known[name], form.naming.of(part), form.paper, form.kinds)
        except UserError as error:
            if names:
                raise
            failed[name] = error
            continue
        if contents is not None:
            drawn += figures.save(contents, folder.joinpath(*into, name))
        elif names and figures.served(known[name], whole):
            problem = "no panels of these protocols and lengths"
            raise UserError("FIGURE", name, problem, "choose others, or draw all panels")
        elif names:
            problem = f"no rows with {figures.needed(known[name])} in study {asked}"
            made = f"`{figures.command(known[name], first)}` makes them"
            raise UserError(name, problem=problem, remedy=made)
    if not drawn and failed:
        raise next(iter(failed.values()))
    if not drawn:
        remedy = f"figures are {', '.join(known)}"
        raise UserError("STUDY", asked, "no figure draws its rows", remedy)
    for name, error in failed.items():
        print(printable(f"extrap plot: {name} left out: {error}"), file=sys.stderr)
    return drawn


def _other(results: Path, study: str) -> pd.DataFrame | None:
    """Returns the rows of another study, None if it has no rows."""
    return open_study(results, study) if has_rows(place(results, study)) else None


def _check_names(names: list[str], known: dict, plugins: Sequence[str]) -> None:
    own = "" if plugins else "; a figure of your own needs --plugins my_package"
    if unknown := [name for name in names if name not in known]:
        raise UserError("FIGURE", unknown[0], "no such figure", choose(unknown[0], known) + own)
