"""The schemes of conf/scheme by name, and all of them measured."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from extrap.audit import cost, logits, outputs
from extrap.audit.column import Column
from extrap.audit.subject import Subject
from extrap.utils.errors import UserError, choose
from extrap.utils.paths import conf_dir
from extrap.utils.untrusted import read_yaml

COLUMNS: tuple[Column, ...] = (
    *(logits.UNIQUE, outputs.DETERMINISTIC, outputs.CODES, logits.LENGTH, *logits.SHIFT),
    *(outputs.NORM, *logits.FAR, *outputs.ORDER, *logits.DECAY, *logits.AXES, *cost.COLUMNS),
)
"""The columns of the table, in order."""


def subjects(
    names: Iterable[str], conf: Path | None = None, plugins: Sequence[str] = ()
) -> list[Subject]:
    """Returns the schemes of these names, or all. Raises UserError for an unknown name. conf: a
    folder of configuration files; plugins: packages whose classes they may name.
    """
    folder = (conf or Path(conf_dir())) / "scheme"
    files = {path.stem: path for path in sorted(folder.glob("*.yaml"), key=lambda path: path.stem)}
    names = list(names) or list(files)
    if unknown := [name for name in names if name not in files]:
        raise UserError("SCHEME", unknown[0], "no such scheme", choose(unknown[0], files))
    return [Subject(name, read_yaml(files[name]), plugins) for name in dict.fromkeys(names)]


NOISE = 1e-12
"""Smaller values are rounding, which differs between processors: written as 0."""


def audit(
    schemes: list[Subject], progress: Callable[[int, int], object] = lambda done, total: None
) -> pd.DataFrame:
    """Returns a row per scheme (index `scheme`), a column per property."""
    rows = []
    for subject in schemes:
        row: dict[str, Any] = {"scheme": subject.name}
        for column in COLUMNS:
            value = column.measure(subject)
            row[column.name] = 0.0 if isinstance(value, float) and abs(value) < NOISE else value
        rows.append(row)
        progress(len(rows), len(schemes))
    return pd.DataFrame(rows).set_index("scheme")
