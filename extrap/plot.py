"""`extrap-plot STUDY [FIGURE ...]`: draw the figures of a study from its rows, as SVG and PNG; `--list` tells which there are."""

import argparse
import sys
from pathlib import Path

from extrap import figures
from extrap.errors import UserError
from extrap.rows import open_study, studies


def main(argv: list[str] | None = None) -> None:
    """The command. Prints the files drawn; a mistake is one line on stderr and exit code 2."""
    parser = argparse.ArgumentParser("extrap-plot", description="Draw the figures of a study from its rows, as SVG and PNG.")
    parser.add_argument("study", metavar="STUDY", nargs="?", help="name of a folder in results")
    parser.add_argument("figures", metavar="FIGURE", nargs="*", help="figures to draw; all whose rows exist where none is named")
    parser.add_argument("--list", action="store_true", help="list the figures and end")
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="DIR", help="folder of the studies (default: results)")
    asked = parser.parse_args(argv)
    try:
        if asked.list:
            print(listing())
        elif asked.study is None:
            raise UserError(f"STUDY is missing; studies in {asked.results}: {', '.join(studies(asked.results)) or 'none yet'}")
        else:
            for path in plot(asked.results, asked.study, asked.figures):
                print(path)
    except UserError as error:
        print(f"extrap-plot: {error}", file=sys.stderr)
        raise SystemExit(2) from None


def listing() -> str:
    """Name and caption of every figure, one a line."""
    known = figures.available()
    return "\n".join(f"{name:{max(map(len, known))}}  {figures.caption(figure)}" for name, figure in known.items())


def plot(results: Path, study: str, names: list[str]) -> list[Path]:
    """Draw the named figures of a study, or all whose rows exist, into `results/<study>/figures`; returns the files.

    A figure without rows is told in one line on stderr. Raises UserError for an unknown study or figure, for mixed corpora, and where
    a figure that was asked for by name, or every figure, lacks its rows.
    """
    known = figures.available()
    if unknown := [name for name in names if name not in known]:
        raise UserError(f"FIGURE={unknown[0]}: no such figure; figures are {', '.join(known)}")
    rows, drawn = open_study(results, study), []
    for name in names or known:
        contents = figures.render(known[name], rows)
        if contents is not None:
            drawn += figures.save(contents, results / study / "figures" / name)
            continue
        line = _lacking(name, known[name].NEEDS, study)
        if names:
            raise UserError(line)
        print(f"extrap-plot: {line}", file=sys.stderr)
    if not drawn:
        raise UserError(f"STUDY={study}: its rows serve no figure; figures are {', '.join(known)}")
    return drawn


def _lacking(name: str, needs: dict, study: str) -> str:
    named = ", ".join(f"{column}={value}" for column, value in needs.items() if column != "seen")
    task = "" if needs["task"] == "train" else f" task={needs['task']}"
    return f"{name}: no rows with {named} in study {study}; `extrap study={study}{task}` makes them"


if __name__ == "__main__":
    main()
