"""A part of the figures of a study: some series, protocols and evaluation lengths."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from extrap.figures.drawing.dimensions import LENGTHS, holding
from extrap.results.series import judged, select, series
from extrap.utils.errors import UserError, choose


class Chosen(NamedTuple):
    """The names of series or schemes, the protocols and the lengths in training lengths to draw;
    all of them if empty.
    """

    series: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    lengths: tuple[float, ...] = ()

    def of_study(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Returns the rows of these series, named by scheme or by label without spaces. Raises
        UserError, listing the names of the study, for an unknown series, protocol or length, and
        for one that is named twice.
        """
        lengths = [f"{one:g}" for one in self.lengths]
        named = {"--series": self.series, "--protocol": self.protocols, "--lengths": lengths}
        for option, names in named.items():
            if twice := [name for name in names if list(names).count(name) > 1]:
                raise UserError(option, ",".join(names), f"{twice[0]} twice", "name each once")
        known = series(rows.assign(status="ok")) if self.series else []
        labels = {s.label.replace(" ", ""): s for s in known}
        keep: list[Any] = []
        for name in self.series:
            fitting = [s for label, s in labels.items() if name in (label, s.scheme)]
            if not fitting:
                listed = f"series of this study: {', '.join(labels)}"
                raise UserError("--series", name, "no such series", listed)
            for s in fitting:
                keep.extend(s.rows.index)
        found = rows
        if any(self):  # a plain reading, which may not be among them, says who is trained
            found = rows.assign(status=judged(rows))
        if self.series:
            found = found[rows.index.isin(keep)]
        read = found["multiple"].dropna().unique()
        for option, names, there in (
            ("--protocol", self.protocols, {*found["protocol"].unique()} - {""}),
            ("--lengths", lengths, {f"{one:g}" for one in read}),
        ):
            for name in names:
                if name not in there:
                    raise UserError(option, name, "not in this study", choose(name, there))
        return found

    def of_figure(self, figure: Any, rows: pd.DataFrame) -> pd.DataFrame:
        """Returns the rows of a figure less panels of other protocols and lengths; no rows if the
        figure has none of these panels.

        Rows that the figure neither needs nor draws as well (ALSO) stay. Where panels have depths,
        rows without a depth stay, too: they hold reference lines.
        """
        if not self.protocols + self.lengths:
            return rows
        own = select(rows, **figure.NEEDS)
        panels = own.dropna(subset="depth") if bool(own["depth"].notna().any()) else own
        keep = self._chosen(panels)
        if not keep.any():
            return rows.iloc[:0]
        cut = panels.index[~keep]
        for needs in getattr(figure, "ALSO", ()):
            also = select(rows, **needs)
            also = also[also["task"] != "train"]  # a curve of training has no lengths
            cut = cut.union(also.index[~self._chosen(also)])
        return rows.drop(index=cut)

    def of_cells(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Returns the rows of these protocols and lengths."""
        return rows[self._chosen(rows)]

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Within, figures have panels of these lengths, if some are chosen."""
        with holding((LENGTHS, self.lengths)):
            yield

    def _chosen(self, rows: pd.DataFrame) -> np.ndarray:
        """Returns which rows have one of the protocols and one of the lengths."""
        keep = np.ones(len(rows), bool)
        if self.protocols:
            keep &= np.isin(rows["protocol"].to_numpy(str), self.protocols)
        if self.lengths:
            keep &= self._at_lengths(rows)
        return keep

    def _at_lengths(self, rows: pd.DataFrame) -> np.ndarray:
        """Returns which rows have one of the lengths, as errors and tables write them: 128 / 96 is
        1.33333.
        """
        asked = [f"{one:g}" for one in self.lengths]
        return rows["multiple"].map("{:g}".format).isin(asked).to_numpy()
