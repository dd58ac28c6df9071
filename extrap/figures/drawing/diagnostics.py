"""What figures of the task `diagnostics` share: rows by state of the model, lines of all series of
one data set, and the figure that most of them are.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from extrap.figures.drawing.ends import End, all_ends, label_ends, label_height, label_room
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.lines import line
from extrap.figures.drawing.style import style_of
from extrap.results.series import CONTROLS, Series, series


def of_state(rows: pd.DataFrame, state: str) -> pd.DataFrame:
    """Returns rows of a trained or untrained model that read records; text without any records."""
    records = rows["protocol"] == f"{state}_records"
    return rows[records if records.any() else rows["protocol"] == f"{state}_text"]


def once(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns untrained models of the first data set by name for every scheme, extension and seed:
    they know nothing of their data.
    """
    first = rows.groupby(["scheme", "extension", "seed", "train_length"])["data"].transform("min")
    return rows[rows["data"] == first]


def beside_columns(rows: pd.DataFrame, least: float) -> tuple[float, float]:
    """Returns the height of panels, at least `least`, and the room to their right, in inches, for
    the names of all trained series.
    """
    found = series(of_state(rows, "trained"))
    schemes = {s.scheme for s in found}
    # room for a scheme below the gate everywhere, so that panels of several studies are alike
    below = [f"{scheme} – below the gate" for scheme in schemes]
    return label_height(len(schemes) + 1, least), label_room([*below, *map(short, found)])


def short(s: Series) -> str:
    """Returns the label of a series in a panel whose title names the data."""
    return s.label.replace(f" ({CONTROLS.get(s.data, s.data)})", "")


def lines(panel, rows: pd.DataFrame, by: str, scale: float = 1.0, **more) -> list[End]:
    """Draws a line with its band per series, scale times each value; returns their ends."""
    thin: dict[str, Any] = {
        "band": 0.12,
        "markersize": 2.4,
        "linewidth": 1.1,
        "through": lambda v: v * scale,
    }
    return [
        replace(line(panel, s.rows, by, style_of(s), s.label, **thin | more), label=short(s))
        for s in series(rows)
    ]


def state_panels(rows: pd.DataFrame, across: str, what: str, least: float, **stroke):
    """Returns a figure of shares over the log of `at`, and its axes: a column for untrained models
    and for each data set, a row for each length.

    Args:
        across, what: names of the axes
        least: height
    """
    lengths = sorted(rows["length"].unique())
    shown = [("untrained", once(of_state(rows, "untrained")))]
    shown += [
        (f"trained: {name}", part) for name, part in of_state(rows, "trained").groupby("data")
    ]
    height, room = beside_columns(rows, least)
    margins: dict[str, Any] = {"right": room, "gap": 0.25, "between": 0.45, "left": 0.95}
    figure, axes = panels((len(lengths), len(shown)), (2.1, height), **margins)
    of_row: list[list[End]] = []
    for (i, j), panel in np.ndenumerate(axes):
        name, part = shown[j]
        of_row = [*of_row, []] if j else [[]]
        of_row[-1] = lines(panel, part[part["length"] == lengths[i]], "at", **stroke)
        panel.set_xscale("log", base=2)
        panel.xaxis.set_major_formatter("{x:g}")
        panel.set(ylim=(-0.02, 1.04), title=name if i == 0 else "")
        panel.set_xlabel(across if i == len(lengths) - 1 else "")
        panel.set_ylabel(f"{lengths[i]} tokens\n\n{what}" if j == 0 else "")
        panel.tick_params(labelleft=j == 0)
        if j == len(shown) - 1:
            label_ends(panel, all_ends(of_row))
    return figure, axes
