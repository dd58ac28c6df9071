"""What series are called in a figure, their order, and where their colours are written down."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd

from extrap.figures.drawing.dimensions import holding
from extrap.figures.drawing.palette import FOLDERS
from extrap.results.series import ALIASES, ORDER
from extrap.utils.errors import UserError, choose

COLUMNS = ("scheme", "extension")


class Naming(NamedTuple):
    """The names that figures use.

    Args:
        labels: {name of a scheme or an extension: what figures call it}
        order: names that come first
        folders: of YAMLs of one's own, whose `# Drawn:` counts
    """

    labels: Mapping[str, str] = MappingProxyType({})
    order: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()

    def check(self, rows: pd.DataFrame) -> None:
        """Raises UserError for a name that the rows lack, and for a label that another has."""
        names = chain.from_iterable(rows[column].unique() for column in COLUMNS)
        known = {*map(str, names)} - {"direct"}
        for name, label in self.labels.items():
            if name not in known:
                raise UserError("--label", name, "not in this study", choose(name, known))
            if label in known or [*self.labels.values()].count(label) > 1:
                raise UserError("--label", label, "is the name of another series")
        for name in self.order:
            if name not in known and name not in self.labels.values():
                raise UserError("--order", name, "not in this study", choose(name, known))

    def of(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Returns rows with the labels as names."""
        return rows.assign(**{name: rows[name].replace(dict(self.labels)) for name in COLUMNS})

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Within, labels have the colours of their names, and series this order."""
        order = tuple(self.labels.get(name, name) for name in self.order)
        aliases = {label: name for name, label in self.labels.items()}
        with holding((ALIASES, aliases), (FOLDERS, self.folders), (ORDER, order)):
            yield
