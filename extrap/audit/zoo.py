"""The schemes of conf/scheme by name, all of them measured, and the table of the measurements: text
for the terminal, CSV and a figure.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from extrap.audit import cost, distance, logits, outputs
from extrap.audit.column import Column
from extrap.audit.subject import Subject
from extrap.utils import atomic
from extrap.utils.errors import UserError, choose
from extrap.utils.paths import conf_dir
from extrap.utils.untrusted import read_yaml

COLUMNS: tuple[Column, ...] = (
    *(logits.UNIQUE, outputs.DETERMINISTIC, outputs.CODES, logits.LENGTH, *logits.SHIFT),
    *(outputs.NORM, *distance.FAR, *outputs.ORDER, *distance.DECAY, *logits.AXES, *cost.COLUMNS),
)
"""The columns of the table, in order."""


def subjects(
    names: Iterable[str], conf: Path | None = None, plugins: Sequence[str] = ()
) -> list[Subject]:
    """Returns the schemes of these names, or all. Raises UserError for an unknown name.

    Args:
        conf: a folder of configuration files
        plugins: packages whose classes they may name
    """
    folder = (conf or Path(conf_dir())) / "scheme"
    paths = sorted(folder.glob("*.yaml"), key=lambda path: path.stem)
    files = {path.stem: path for path in paths}
    found = []
    for name in dict.fromkeys(names) or files:
        if name not in files:
            raise UserError("SCHEME", name, "no such scheme", choose(name, files))
        found.append(Subject(name, read_yaml(files[name]), plugins))
    return found


NOISE = 1e-5
"""Smaller values are rounding of float32, which differs between processors: written as 0."""


def settled(value: Any) -> Any:
    """Returns a value of a column without what differs between processors: a float in four digits,
    0 below NOISE.
    """
    if not isinstance(value, float):
        return value
    if abs(value) < NOISE:
        return 0.0
    return float(f"{value:.4g}")


def audit(
    schemes: list[Subject], progress: Callable[[int, int], object] = lambda done, total: None
) -> pd.DataFrame:
    """Returns a row per scheme (index `scheme`), a column per property."""
    rows = []
    for subject in schemes:
        row = {"scheme": subject.name}
        for column in COLUMNS:
            value = column.measure(subject)
            row[column.name] = settled(value)
        rows.append(row)
        progress(len(rows), len(schemes))
    return pd.DataFrame(rows).set_index("scheme")


def cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns the cells of the table, under the heads of the columns."""
    written = {}
    for column in COLUMNS:
        values = frame[column.name].tolist()
        written[column.head] = [*map(column.cell, values)]
    return pd.DataFrame(written, index=frame.index)


def verdicts(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns True, False or None for each property."""
    held = {}
    for column in COLUMNS:
        values = frame[column.name].tolist()
        held[column.head] = [*map(column.verdict, values)]
    return pd.DataFrame(held, index=frame.index, dtype=object)


def text(frame: pd.DataFrame) -> str:
    """Returns an aligned table with its legend; `!` marks a property that does not hold."""
    held = verdicts(frame)
    marks = held.map(lambda holds: "!" if holds is False else " ")
    marked = (cells(frame) + marks).add_suffix(" ")
    table = marked.rename_axis(index=None, columns="scheme").to_string()
    legend = {c.head: c.says for c in COLUMNS}
    legend["!"] = "the property does not hold"
    legend["-"] = "nothing to measure, or past what is defined"
    width = max(map(len, legend))
    lines = [f"{head:{width}}  {says}" for head, says in legend.items()]
    return "\n".join([table, "", *lines])


def added(frame: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Returns the committed table with these rows in place of older ones of the same schemes.
    Raises UserError for a folder without a table.
    """
    path = folder / "audit.csv"
    if not path.is_file():
        raise UserError("--add", path, "no such table", "write it by `extrap audit`")
    before = pd.read_csv(path, index_col="scheme")
    if list(before.columns) != list(frame.columns):
        raise UserError("--add", path, "has other columns", "write it again by `extrap audit`")
    others = before.drop(index=frame.index, errors="ignore")
    return pd.concat([others, frame]).sort_index()


def write(frame: pd.DataFrame, folder: Path) -> list[Path]:
    """Writes audit.csv and figures/audit.svg, .png; returns their paths. Raises UserError for a
    link in the folder.
    """
    from extrap import figures
    from extrap.figures.properties import paint

    atomic.check_links(folder)
    table = folder / "audit.csv"
    text = frame.to_csv(float_format="%.4g", lineterminator="\n")
    atomic.replace(table, text.encode())
    written = cells(frame)
    held = verdicts(frame)
    says = [column.says for column in COLUMNS]
    painted = figures.image(lambda: paint(written, held, says))
    drawn = figures.save(painted, folder / "figures" / "audit")
    return [table, *drawn]
