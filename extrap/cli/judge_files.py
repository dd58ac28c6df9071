"""The verdict on a candidate: its text, one page of HTML, and figures and a table for a paper."""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from extrap import figures
from extrap.cli.columns import aligned
from extrap.cli.report import NAME
from extrap.figures.drawing.formats import latex as escaped
from extrap.figures.drawing.paper import Paper
from extrap.figures.report.html_page import page
from extrap.figures.report.text import number
from extrap.figures.report.verdict import (
    NOT_CHECKED,
    ON_PURPOSE,
    RECIPES,
    pairing,
    parts,
    section,
    sentence,
)
from extrap.results import series
from extrap.results.beside import Beside
from extrap.results.effective import Effective
from extrap.utils import atomic
from extrap.utils.atomic import check_links

PAPER = ("kv_depth", "kv_length", "loss_length")
SHOWN = 6
"""Series of a figure for a paper: the candidate, and the best of the others."""
HEAD = (
    "series", "at {:g} L", "ranks", "worst seed", "worst depth", "at L", "perplexity at {:g} L",
    "effective length", "seeds", "parameters",
)  # fmt: skip


class Verdict(NamedTuple):
    """A candidate compared with the other series, and all that is said about it.

    Args:
        beside, board, differences: of extrap.results.beside
        contracts: how the scheme breaks each, empty if it holds, NOT_CHECKED or ON_PURPOSE and why
        notes: sentences about the comparison
        cost: of the candidate and the others, as lines of cells
        recipes: its ranks under other recipes, as lines of cells
    """

    beside: Beside
    board: pd.DataFrame
    differences: pd.DataFrame
    contracts: Mapping[str, str]
    notes: Sequence[str] = ()
    cost: Sequence[Sequence[str]] = ()
    recipes: Sequence[Sequence[str]] = ()


def text(of: Verdict) -> str:
    """Returns the verdict for a terminal: its place, the leaderboard, gains and losses."""
    blocks = [[sentence(of.beside, of.differences), *of.notes]]
    for says, why in of.contracts.items():
        known = (start for start in (NOT_CHECKED, ON_PURPOSE) if why.startswith(start))
        start = next(known, "broken: ")
        if why:
            blocks.append([f"contract {start}{says}: {why.removeprefix(start)}"])
    blocks.append(aligned(cells(of.board, of.beside.multiple)))
    if of.recipes:
        blocks.append([RECIPES, *aligned(of.recipes)])
    for title, frame in parts(of.beside, of.differences).items():
        lines = [["series", *(f"{column:g}" for column in frame.columns)]]
        for other, values in zip(frame.index, frame.to_numpy(), strict=True):
            lines.append([str(other), *values])
        blocks.append([title, *aligned(lines)])
    blocks.append([pairing(of.differences)])
    return "\n\n".join("\n".join(block) for block in blocks)


def cells(board: pd.DataFrame, multiple: float) -> list[list[str]]:
    """Returns the leaderboard as cells, the header first; a candidate of yours has a >."""
    lines = [[cell.format(multiple) for cell in HEAD]]
    one: Any
    for one in board.itertuples():
        spread = "" if math.isnan(one.low) else f" [{number(one.low)}, {number(one.high)}]"
        depth = "-" if math.isnan(one.depth) else f"{number(one.worst_depth)} at {one.depth:g}"
        seeds = f"{one.seeds}, {one.below} below the gate" if one.below > 0 else f"{one.seeds}"
        seeds += f", {one.diverged} diverged" if one.diverged > 0 else ""
        lines.append(
            [
                f"> {one.series}" if one.yours else one.series,
                f"{number(one.score)}{spread}",
                _ranks(one.best, one.worst),
                number(one.worst_seed),
                depth,
                number(one.near),
                number(one.perplexity),
                str(Effective(one.length, math.nan, math.nan, one.least)),
                seeds,
                "-" if math.isnan(one.parameters) else f"{one.parameters:,.0f}",
            ]
        )
    return lines


def _ranks(best: int, worst: int) -> str:
    if not best:
        return "-"
    return str(best) if best == worst else f"{best}-{worst}"


def written(
    folder: Path,
    rows: pd.DataFrame,
    of: Verdict,
    command: str,
    paper: Paper,
    plugins: Sequence[str] = (),
) -> list[Path]:
    """Writes the page, the differences, and `paper`; returns the files, the page first.

    Args:
        rows: of all series
        command: the one that judges
        paper: the page of the figures, whose captions come as LaTeX files
        plugins: packages with figures of their own
    """
    check_links(folder)
    verdict = section(
        of.beside, of.differences, of.contracts, of.cost, of.notes, recipes=of.recipes
    )
    contents = {
        NAME: page(rows, plugins=plugins, commands=[command], verdict=verdict),
        "differences.csv": of.differences.to_csv(index=False),
        "paper/leaderboard.tex": latex(cells(of.board, of.beside.multiple)),
    }
    if of.recipes:
        contents["paper/recipes.tex"] = latex(of.recipes)
    for name, content in contents.items():
        atomic.replace(folder / name, content.encode())
    made = [folder / name for name in contents]
    known = figures.available(plugins)
    for name in PAPER:
        path = folder / "paper" / name
        made += drawn(known[name], _shown(rows, of.beside), path, paper._replace(bare=True))
    return made


def drawn(figure: object, rows: pd.DataFrame, path: Path, paper: Paper) -> list[Path]:
    """Draws a figure for the page of a paper, if its rows are there; returns the files."""
    contents = figures.render(figure, rows, paper, ("pdf",))
    return figures.save(contents, path) if contents is not None else []


def latex(lines: Sequence[Sequence[str]]) -> str:
    """Returns a table of LaTeX (booktabs), its first column to the left."""
    rows = []
    for line in lines:
        words = [escaped(cell.removeprefix("> ")) for cell in line]
        rows.append(" & ".join(words) + r" \\")
    head, *body = rows
    begin = rf"\begin{{tabular}}{{l{'r' * (len(lines[0]) - 1)}}}"
    table = [begin, r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*table, ""])


def _shown(rows: pd.DataFrame, of: Beside) -> pd.DataFrame:
    """Returns the rows of the candidate and of the best of the others."""
    others = [one.series for one in of.order if one.series != of.candidate]
    chosen = [of.candidate, *others[: SHOWN - 1]]
    index = chain.from_iterable(of.found[n].rows.index for n in chosen)
    trained = rows.assign(status=series.judged(rows))  # by plain readings, which may be left out
    return trained.loc[sorted(index)]
