"""The audit as text for the terminal, as CSV, and as a figure."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from extrap.audit.column import Column
from extrap.utils import files as atomic


def cells(frame: pd.DataFrame, columns: Sequence[Column]) -> pd.DataFrame:
    """Returns the cells of the table, under the heads of the columns."""
    written = {c.head: [c.cell(value) for value in frame[c.name].tolist()] for c in columns}
    return pd.DataFrame(written, index=frame.index)


def verdicts(frame: pd.DataFrame, columns: Sequence[Column]) -> pd.DataFrame:
    """Returns True, False or None for each property."""
    held = {c.head: [c.verdict(value) for value in frame[c.name].tolist()] for c in columns}
    return pd.DataFrame(held, index=frame.index, dtype=object)


def text(frame: pd.DataFrame, columns: Sequence[Column]) -> str:
    """Returns an aligned table with its legend; `!` marks a property that does not hold."""
    written, holds = cells(frame, columns), verdicts(frame, columns)
    marked = written + holds.map(lambda held: "!" if held is False else " ")
    blocks = [["scheme", *frame.index], *([f"{head} ", *marked[head]] for head in marked)]
    first, *wide = [max(map(len, block)) for block in blocks]
    lines = [
        " ".join([scheme.ljust(first), *map(str.rjust, row, wide)]).rstrip()
        for scheme, *row in zip(*blocks, strict=True)
    ]
    legend = {c.head: c.says for c in columns} | {"!": "the property does not hold"}
    legend |= {"-": "nothing to measure, or past what is defined"}
    width = max(map(len, legend))
    return "\n".join([*lines, "", *(f"{head:{width}}  {says}" for head, says in legend.items())])


def write(frame: pd.DataFrame, columns: Sequence[Column], folder: Path) -> list[Path]:
    """Writes audit.csv and figures/audit.svg, .png; returns their paths. Raises UserError for a
    link in the folder.
    """
    from extrap import figures
    from extrap.figures.properties import paint

    atomic.check_links(folder)
    table = folder / "audit.csv"
    atomic.replace(table, frame.to_csv(float_format="%.4g", lineterminator="\n").encode())
    painted = figures.image(
        lambda: paint(cells(frame, columns), verdicts(frame, columns), [c.says for c in columns])
    )
    return [table, *figures.save(painted, folder / "figures" / "audit")]
