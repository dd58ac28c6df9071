"""What figures of the task `diagnostics` share: which rows are of which state, and lines of all
series of one data set.
"""

from dataclasses import replace

import pandas as pd

from extrap.figures.drawing.ends import End, label_height, label_room
from extrap.figures.drawing.lines import line
from extrap.figures.drawing.style import style_of
from extrap.results.series import CONTROLS, Series, series

STATES = ("untrained", "trained")


def of_state(rows: pd.DataFrame, state: str) -> pd.DataFrame:
    """Rows of a trained or untrained model that read records; text where no records were read."""
    protocol = next(
        (p for p in (f"{state}_records", f"{state}_text") if p in set(rows["protocol"])), ""
    )
    return rows[rows["protocol"] == protocol]


def datasets(rows: pd.DataFrame) -> list[str]:
    """Names of the training data."""
    return sorted(set(rows["data"]))


def once(rows: pd.DataFrame) -> pd.DataFrame:
    """Untrained models know nothing of their data: those of the first data set by name for every
    scheme, extension and seed.
    """
    first = rows.groupby(["scheme", "extension", "seed", "train_length"])["data"].transform("min")
    return rows[rows["data"] == first]


def columns(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """A panel's title and rows: the untrained models once, the trained ones by their data."""
    trained = of_state(rows, "trained")
    return [
        ("untrained", once(of_state(rows, "untrained"))),
        *((f"trained: {name}", trained[trained["data"] == name]) for name in datasets(rows)),
    ]


def beside_columns(rows: pd.DataFrame, least: float) -> tuple[float, float]:
    """Height of the panels and room to their right, in inches, for the names of all trained series;
    `least` is the smallest height.
    """
    found = series(of_state(rows, "trained"))
    # room for a scheme below the gate everywhere, so that panels of several studies are alike
    names = [name for s in found for name in (s.scheme + " – below the gate", short(s))]
    return label_height(len({s.scheme for s in found}) + 1, least), label_room(names)


def short(s: Series) -> str:
    """The label of a series in a panel that says which data it is of."""
    return s.label.replace(f" ({CONTROLS.get(s.data, s.data)})", "")


def lines(panel, rows: pd.DataFrame, by: str, scale: float = 1.0, **more) -> list[End]:
    """A line with its band per series of these rows, scale times each value; the ends, to be named
    beside.
    """
    thin = {"band": 0.12, "markersize": 2.4, "linewidth": 1.1, "through": lambda v: v * scale}
    return [
        replace(line(panel, s.rows, by, style_of(s), s.label, **thin | more), label=short(s))
        for s in series(rows)
    ]
