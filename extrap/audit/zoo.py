"""The schemes of conf/scheme by name, and all of them measured."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pandas as pd

from extrap.audit import properties
from extrap.audit.column import Column
from extrap.audit.subject import Subject
from extrap.utils.errors import UserError, choose
from extrap.utils.paths import conf_dir
from extrap.utils.untrusted import read_yaml


def columns() -> list[Column]:
    return [column for group in properties.available().values() for column in group.COLUMNS]


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


def measure(subject: Subject) -> dict[str, object]:
    """Returns the value of every column."""
    groups = properties.available().values()
    return {name: value for group in groups for name, value in group.measure(subject).items()}


NOISE = 1e-12
"""Smaller values are rounding, which differs between processors: written as 0."""


def audit(
    schemes: list[Subject], progress: Callable[[int, int], object] = lambda done, total: None
) -> pd.DataFrame:
    """Returns a row per scheme (index `scheme`), a column per property, in the order of
    `columns`.
    """
    rows = []
    for subject in schemes:
        measured = measure(subject).items()
        exact = {k: 0.0 if isinstance(v, float) and abs(v) < NOISE else v for k, v in measured}
        rows.append({"scheme": subject.name} | exact)
        progress(len(rows), len(schemes))
    return pd.DataFrame(rows).set_index("scheme")[[column.name for column in columns()]]
