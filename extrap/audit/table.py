"""The audit as text for the terminal, as CSV, and as a figure."""

from pathlib import Path

import pandas as pd

from extrap.audit.column import Column
from extrap.utils import files as atomic


def cells(frame: pd.DataFrame, columns: list[Column]) -> pd.DataFrame:
    """What is written, under the heads of the columns."""
    return pd.DataFrame(
        {c.head: [c.cell(value) for value in frame[c.name].tolist()] for c in columns},
        index=frame.index,
    )


def verdicts(frame: pd.DataFrame, columns: list[Column]) -> pd.DataFrame:
    """Whether a property holds: True, False or None."""
    held = {c.head: [c.verdict(value) for value in frame[c.name].tolist()] for c in columns}
    return pd.DataFrame(held, index=frame.index, dtype=object)


def text(frame: pd.DataFrame, columns: list[Column]) -> str:
    """An aligned table and the legend of its columns. `!` marks a property that does not hold."""
    written, holds = cells(frame, columns), verdicts(frame, columns)
    names = _column(["scheme", *frame.index], str.ljust)
    blocks = [names]
    for head in written:
        marks = [
            cell + ("!" if held is False else " ")
            for cell, held in zip(written[head], holds[head], strict=True)
        ]
        blocks.append(_column([f"{head} ", *marks], str.rjust))
    lines = [" ".join(row).rstrip() for row in zip(*blocks, strict=True)]
    return "\n".join([*lines, "", *legend(columns)])


def legend(columns: list[Column]) -> list[str]:
    width = max(len(c.head) for c in columns)
    notes = [f"{c.head:{width}}  {c.says}" for c in columns]
    return [
        *notes,
        f"{'!':{width}}  the property does not hold",
        f"{'-':{width}}  nothing to measure, or past what is defined",
    ]


def write(frame: pd.DataFrame, columns: list[Column], folder: Path) -> list[Path]:
    """audit.csv and figures/audit.svg, .png in a folder; returns the files. Raises UserError for a
    link in it.
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


def _column(entries: list[str], justify) -> list[str]:
    return [justify(entry, max(map(len, entries))) for entry in entries]
