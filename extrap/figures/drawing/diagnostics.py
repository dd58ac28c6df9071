"""What figures of the task `diagnostics` share: which rows are of which state, and lines of all
series of one data set.
"""

import pandas as pd

from extrap.figures.drawing.axes import QUIET
from extrap.figures.drawing.ends import End, label_height, label_room, thin_lines
from extrap.figures.drawing.style import style_of
from extrap.results.series import CONTROLS, Series, seeds, series, spread

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


def lines(
    panel, rows: pd.DataFrame, by: str, scale: float = 1.0, across: float = 1.0, shift: float = 0.0
) -> list[End]:
    """A line with its band per series of these rows, scale times each value at across x + shift;
    the ends, to be named beside.
    """
    ends = []
    for s in series(rows):
        style, curve, table = (
            style_of(s),
            spread(s.rows, by).astype(float) * scale,
            seeds(s.rows, by) * scale,
        )
        curve.index, table.index = curve.index * across + shift, table.index * across + shift
        thin_lines(panel, table, style)
        panel.fill_between(
            curve.index, curve["low"], curve["high"], color=style.colour, alpha=0.12, linewidth=0
        )
        panel.plot(
            curve.index,
            curve["value"],
            label=s.label,
            zorder=3,
            **style.stroke | {"markersize": 2.4, "linewidth": 1.1},
        )
        ends.append(End(short(s), style, curve.index[-1], curve["value"].iloc[-1]))
    return ends


def level(panel, height: float, label: str) -> None:
    """A dotted horizontal line that is a reference and no data."""
    panel.axhline(
        height, color=QUIET, linestyle=(0, (1, 1.6)), linewidth=0.9, zorder=1.5, label=label
    )
