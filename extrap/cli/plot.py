"""`extrap-plot STUDY [FIGURE ...]`: draw the figures of a study from its rows, as SVG and PNG; `--list` tells which there are."""

import argparse
import sys
from pathlib import Path
from types import ModuleType

from extrap import figures
from extrap.utils.files import check_links
from extrap.utils.errors import UserError
from extrap.results.rows import open_study, studies
from extrap.cli.exits import told

STUDIED, ANALYTIC = "extrap.figures", "extrap.figures.analytic"


def main(argv: list[str] | None = None) -> None:
    """The command. Prints the files drawn; a mistake is one line on stderr and exit code 2."""
    parser = argparse.ArgumentParser("extrap-plot", description="Draw the figures of a study from its rows, as SVG and PNG.")
    parser.add_argument("study", metavar="STUDY", nargs="?", help="name of a folder in results")
    parser.add_argument("figures", metavar="FIGURE", nargs="*", help="figures to draw; all whose rows exist where none is named")
    parser.add_argument("--list", action="store_true", help="list the figures and end")
    parser.add_argument("--analytic", action="store_true", help="draw figures that need no study: --analytic [FIGURE ...]")
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="DIR", help="folder of the studies (default: results)")
    asked = parser.parse_args(argv)
    with told("extrap-plot"):
        if asked.list:
            print(listing(ANALYTIC if asked.analytic else STUDIED))
        elif asked.analytic:
            for path in plot_analytic(asked.results, [*filter(None, [asked.study]), *asked.figures]):
                print(path)
        elif asked.study is None:
            raise UserError(f"STUDY is missing; studies in {asked.results}: {', '.join(studies(asked.results)) or 'none yet'}")
        else:
            for path in plot(asked.results, asked.study, asked.figures):
                print(path)


def listing(package: str = STUDIED) -> str:
    """Every figure: its name and caption, and under it the rows it draws, if it draws any."""
    known = figures.available(package)
    wide, lines = max(map(len, known)), []
    for name, figure in known.items():
        lines.append(f"{name:{wide}}  {figures.caption(figure)}")
        lines += [f"{'':{wide}}  rows: {figures.needed(figure)}"] if package == STUDIED else []
    return "\n".join(lines)


def plot_analytic(results: Path, names: list[str]) -> list[Path]:
    """Draw the named figures that need no rows, or all of them, into `results/analytic/figures`; returns the files.

    Raises UserError for an unknown one.
    """
    known = figures.available(ANALYTIC)
    _check_names(names, known)
    return [
        path for name in names or known for path in figures.save(figures.image(known[name].draw), results / "analytic" / "figures" / name)
    ]


def plot(results: Path, study: str, names: list[str]) -> list[Path]:
    """Draw the named figures of a study, or all whose rows exist, into `results/<study>/figures`; returns the files.

    A figure without rows is told in one line on stderr. Raises UserError for an unknown study or figure, for mixed corpora, and where
    a figure that was asked for by name, or every figure, lacks its rows.
    """
    known = figures.available()
    _check_names(names, known)
    rows, drawn = open_study(results, study), []
    check_links(results / study)
    for name in names or known:
        contents = figures.render(known[name], rows)
        if contents is not None:
            drawn += figures.save(contents, results / study / "figures" / name)
            continue
        line = _lacking(name, known[name], study)
        if names:
            raise UserError(line)
        print(f"extrap-plot: {line}", file=sys.stderr)
    if not drawn:
        raise UserError(f"STUDY={study}: its rows serve no figure; figures are {', '.join(known)}")
    return drawn


def _check_names(names: list[str], known: dict) -> None:
    if unknown := [name for name in names if name not in known]:
        raise UserError(f"FIGURE={unknown[0]}: no such figure; figures are {', '.join(known)}")


def _lacking(name: str, figure: ModuleType, study: str) -> str:
    return f"{name}: no rows with {figures.needed(figure)} in study {study}; `{figures.command(figure, study)}` makes them"


if __name__ == "__main__":
    main()
