"""The verdict on a candidate: its text, one page of HTML, and figures and a table for a paper."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from extrap import figures
from extrap.cli.columns import aligned
from extrap.cli.report import NAME
from extrap.figures.drawing import paper
from extrap.figures.drawing.formats import latex as escaped
from extrap.figures.report import verdict
from extrap.figures.report.page import page
from extrap.figures.report.text import number
from extrap.results.beside import Beside
from extrap.results.effective import Effective
from extrap.utils import files as atomic
from extrap.utils.files import check_links

PAPER = ("kv_depth", "kv_length", "loss_length")
COLUMN = paper.page("single")._replace(bare=True)
"""A column of a paper; the caption comes as LaTeX beside the figure."""
SHOWN = 6
"""Series of a figure for a paper: the candidate, and the best of the others."""
HEAD = ("series", "at {:g} L", "ranks", "worst seed", "worst depth", "at L", "perplexity at {:g} L")
HEAD = (*HEAD, "effective length", "seeds", "parameters")


def text(
    of: Beside,
    board: pd.DataFrame,
    differences: pd.DataFrame,
    contracts: Mapping[str, str],
    notes: Sequence[str] = (),
) -> str:
    """Returns the verdict for a terminal: its place, the leaderboard, gains and losses. notes:
    sentences about the comparison.
    """
    blocks = [[verdict.sentence(of, differences), *notes]]
    blocks += [[f"contract broken: {says}: {why}" for says, why in contracts.items() if why]]
    blocks.append(aligned(cells(board, of.multiple)))
    for title, frame in verdict.parts(of, differences).items():
        lines = zip(frame.index, frame.to_numpy(), strict=True)
        head = ["series", *(f"{column:g}" for column in frame.columns)]
        blocks.append([title, *aligned([head, *([str(other), *line] for other, line in lines)])])
    blocks.append([verdict.NOTE])
    return "\n\n".join("\n".join(block) for block in blocks if block)


def cells(board: pd.DataFrame, multiple: float) -> list[list[str]]:
    """Returns the leaderboard as cells, the header first; a candidate of yours has a >."""
    lines = [[cell.format(multiple) for cell in HEAD]]
    for one in board.itertuples():
        spread = "" if math.isnan(one.low) else f" [{number(one.low)}, {number(one.high)}]"
        ranks = str(one.best) if one.best == one.worst else f"{one.best}-{one.worst}"
        deep = "-" if math.isnan(one.depth) else f"{number(one.worst_depth)} at {one.depth:g}"
        reach = Effective(one.length, math.nan, math.nan, one.least)
        seeds = f"{one.seeds}" + f", {one.below} below the gate" * (one.below > 0)
        size = "-" if math.isnan(one.parameters) else f"{one.parameters:,.0f}"
        first = [f"{'> ' * one.yours}{one.series}", f"{number(one.score)}{spread}"]
        worst = [ranks if one.best else "-", number(one.worst_seed), deep]
        rest = [number(one.near), number(one.perplexity), str(reach), seeds, size]
        lines.append(first + worst + rest)
    return lines


def written(
    folder: Path,
    rows: pd.DataFrame,
    of: Beside,
    board: pd.DataFrame,
    differences: pd.DataFrame,
    contracts: Mapping[str, str],
    notes: Sequence[str],
    cost: Sequence[Sequence[str]],
    command: str,
    plugins: Sequence[str] = (),
) -> list[Path]:
    """Writes the page, the differences, and `paper`; returns the files, the page first.

    Args:
        cost: lines of cells
        command: the one that judges
        plugins: packages with figures of their own
    """
    check_links(folder)
    section = verdict.section(of, differences, contracts, cost, notes)
    content = page(rows, plugins=plugins, commands=[command], verdict=section)
    contents = {NAME: content, "differences.csv": differences.to_csv(index=False)}
    contents["paper/leaderboard.tex"] = latex(cells(board, of.multiple))
    for name, content in contents.items():
        atomic.replace(folder / name, content.encode())
    made = [folder / name for name in contents]
    known = figures.available(plugins)
    for name in PAPER:
        made += drawn(known[name], _shown(rows, of), folder / "paper" / name)
    return made


def drawn(figure: object, rows: pd.DataFrame, path: Path) -> list[Path]:
    """Draws a figure for a column of a paper, if its rows are there; returns the files."""
    contents = figures.render(figure, rows, COLUMN, ("pdf",))
    return figures.save(contents, path) if contents is not None else []


def latex(lines: Sequence[Sequence[str]]) -> str:
    """Returns a table of LaTeX (booktabs), its first column to the left."""
    head, *body = [[escaped(cell.removeprefix("> ")) for cell in line] for line in lines]
    rows = [" & ".join(line) + r" \\" for line in body]
    begin = rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}"
    ruled = [begin, r"\toprule", " & ".join(head) + r" \\", r"\midrule"]
    return "\n".join([*ruled, *rows, r"\bottomrule", r"\end{tabular}", ""])


def _shown(rows: pd.DataFrame, of: Beside) -> pd.DataFrame:
    """Returns the rows of the candidate and of the best of the others."""
    others = [one.series for one in of.order if one.series != of.candidate]
    chosen = [of.candidate, *others[: SHOWN - 1]]
    return rows.loc[sorted(i for n in chosen for i in of.found[n].rows.index)]
