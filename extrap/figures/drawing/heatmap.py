"""Numbers in coloured cells; and accuracy over depth and length in such cells, a panel per series
and protocol.
"""

import re
from typing import Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle

from extrap.figures.drawing.axes import note
from extrap.figures.drawing.dimensions import COLOUR_BAR, NARROW, PAGE, POINT, WIDTH, text_width
from extrap.figures.drawing.layout import leftmost, lowest, wrapped
from extrap.figures.drawing.palette import BELOW_GATE, ink_on
from extrap.figures.drawing.style import style_of
from extrap.figures.drawing.titles import entitle, folded
from extrap.results.series import select, series

ACROSS = 5
DISTANCES = (1, 2, 4)
INK = "#ff1f5b"
CELL = (0.34, 0.225)
SMALL = 0.08
LOW = 0.045
TITLE = 7.5
"""Inches: a cell, the least width and height of one; points of a title."""
FULL = 8.6
"""Inches of height that maps take at most."""
MARGINS = {"left": 0.62, "right": 0.95, "gap": 0.36, "between": 0.5, "top": 0.66}
NARROW_MARGINS = {"left": 0.5, "right": 0.7, "gap": 0.14, "between": 0.38, "top": 0.66}
READABLE = (0.24, 0.12)
CROWDED = 0.13
"""Inches of width and height of a cell from which on it holds its number; size of a cell up to
which the ends of an axis alone are numbered.
"""
SAYS = re.compile(r" – below the gate| \(\d+ of \d+ seeds\)")
"""What names of series say of gates, for which a narrow page has no room: cells are hatched."""
MARKS = (
    "red line: the training length L; dashed: records that lie L, 2L and 4L tokens before the "
    "query; hatched: below the gate"
)


def cells(panel, table, form="{:.2f}".format, **colours) -> None:
    """Draws a table (rows, columns) as coloured cells with their numbers, the first row on top.

    A missing number leaves its cell blank. form(number): its text; colours: cmap, vmin and vmax
    of `pcolormesh`.
    """
    table = np.ma.masked_invalid(table)
    mesh = panel.pcolormesh(table, edgecolors="white", linewidth=0.6, **colours)
    panel.set(xlim=(0, table.shape[1]), ylim=(len(table), 0))
    panel.grid(visible=False)
    panel.tick_params(length=0)
    middle = {"ha": "center", "va": "center", "fontsize": 6.5}
    for i, j in np.argwhere(~np.ma.getmaskarray(table)):
        number = table[i, j]
        ink = ink_on(mesh.to_rgba(number))
        panel.text(j + 0.5, i + 0.5, form(number), color=ink, **middle)


def heat_maps(rows, needs: dict, protocols: tuple[str, ...], title: str):
    """Returns a figure of the rows that a module NEEDS, the panels of a protocol side by side."""
    rows = select(rows, **needs).dropna(subset="depth")
    rows = rows[rows["protocol"].isin(protocols)]
    maps = []
    for protocol in protocols:
        maps += [(s, protocol) for s in series(rows[rows["protocol"] == protocol])]
    depths = np.unique(rows["depth"])
    lengths = np.unique(rows["length"].astype(int))
    margins = NARROW_MARGINS if (WIDTH.get() or PAGE) < NARROW else MARGINS
    columns, size = _grid(len(maps), len(depths), len(lengths), margins)
    figure, found = wrapped(len(maps), columns, size, **margins, least=0, low=LOW * len(depths))
    for panel, (s, protocol) in zip(found, maps, strict=True):
        _map(panel, s, depths, lengths)
        look = {"color": style_of(s).text, "fontsize": TITLE, "pad": 3}
        panel.set_title(_titled(s.label, protocol, size[0]), **look)
        _axes(panel, depths, lengths, size[0])
    box = found[columns - 1].get_position()
    inch = 1 / figure.get_size_inches()[0]
    away = (margins["right"] - 0.6) * inch
    place = (box.x1 + away, box.y0, 0.1 * inch, box.height)
    beside = figure.add_axes(place, label=COLOUR_BAR)
    bar = figure.colorbar(ScalarMappable(Normalize(0, 1), "viridis"), cax=beside, label="accuracy")
    bar.outline.set_visible(False)
    entitle(figure, title, f"{note(rows)} · {MARKS}")
    return figure


def _axes(panel, depths, lengths, width: float) -> None:
    """Numbers the rows and columns of a map, or the first and the last where there is no room."""
    shown = lengths if _fit(lengths, width) else lengths[:: max(1, len(lengths) - 1)]
    panel.set_xticks(np.searchsorted(lengths, shown) + 0.5, map(str, shown), fontsize=6.5)
    panel.set_xlabel("length (tokens)" if lowest(panel) else "")
    _, high = _cell(panel, depths, lengths)
    crowded = high <= CROWDED
    named = [0, len(depths) - 1] if crowded else [*range(len(depths))]
    words = [f"{depths[k]:g}" if leftmost(panel) else "" for k in named]
    panel.set_yticks([k + 0.5 for k in named], words)
    what = "depth" if crowded else "depth (0 = start)"
    panel.set_ylabel(what if leftmost(panel) else "")


def _grid(maps: int, depths: int, lengths: int, margins: dict) -> tuple[int, tuple[float, float]]:
    """Returns the columns, and the width and height of a map, with which the maps fit the height of
    a page: those with the fewest empty cells if their cells hold numbers, else as many columns
    as fit.
    """
    page = WIDTH.get() or PAGE
    room = page - margins["left"] - margins["right"]
    widths = {n: (room - (n - 1) * margins["gap"]) / n - 1e-6 for n in range(1, ACROSS + 1)}
    fine = [n for n, width in widths.items() if width >= SMALL * lengths and n <= maps] or [1]

    def fit(columns: int, cell: float) -> bool:
        """True if all maps fit the height of a page with cells of this height."""
        lines = -(-maps // columns)
        return lines * (cell * depths + margins["between"]) < FULL

    wide, high = READABLE
    clear = [n for n in fine if fit(n, high) and widths[n] >= wide * lengths]
    if clear:
        columns = min(clear, key=lambda n: (-maps % n, n))
    else:
        columns = max([n for n in fine if fit(n, LOW)] or fine)
    width = min(CELL[0] * lengths, widths[columns])
    return columns, (width, CELL[1] * depths)


def _titled(label: str, protocol: str, width: float) -> str:
    """Returns the title of a map, in two lines at most if that leaves out what its cells show."""
    room = width / POINT + 8
    title = folded(f"{label} · {protocol}", room, TITLE)
    if title.count("\n") < 2:
        return title
    return folded(f"{SAYS.sub('', label)} · {protocol}", room, TITLE)


def _cell(panel, depths, lengths) -> np.ndarray:
    """Returns the width and height of a cell in inches."""
    inches = panel.get_position().size * panel.figure.get_size_inches()
    return inches / (len(lengths), len(depths))


def _fit(lengths, width: float) -> bool:
    """True if the names of all lengths fit under a map."""
    return POINT * text_width(map(str, lengths), 6.5) * 1.25 < width / len(lengths)


def _map(panel, s, depths, lengths) -> None:
    """Draws means over seeds, grey and hatched for a series below the gate."""
    means = s.rows.groupby(["depth", "length"])["value"].mean().unstack()
    table = means.reindex(index=depths, columns=lengths).to_numpy(float)
    colours = {"cmap": "viridis", "vmax": 1} if s.ok else {"cmap": "Greys", "vmax": 2}
    wide, high = _cell(panel, depths, lengths)
    crowded = wide < READABLE[0] or high < READABLE[1]
    form = (lambda _: "") if crowded else (lambda share: f"{share:.2f}".lstrip("0"))
    cells(panel, table, form, vmin=0, **colours)
    read = int(np.flatnonzero(~np.isnan(table).all(axis=0))[-1]) + 1
    if not s.ok:
        lost: dict[str, Any] = {
            "facecolor": "none",
            "edgecolor": BELOW_GATE,
            "hatch": "////",
            "linewidth": 0,
        }
        panel.add_patch(Rectangle((0, 0), read, len(depths), **lost))
    trained = int(s.rows["train_length"].min())
    border = np.searchsorted(lengths[:read], trained, side="right")
    panel.axvline(border, color=INK, linewidth=1.2, label="training length")
    if read > 1:
        for multiple in DISTANCES:
            _distance(panel, depths, lengths[:read], multiple * trained)
    panel.tick_params(pad=2)
    panel.spines[:].set_visible(False)


def _distance(panel, depths, lengths, distance: int) -> None:
    """Draws where records lie so many tokens before the query, in the uneven units of the cells."""
    log = np.log(lengths)
    log = np.append(log, log[-1] + (log[-1] - log[-2]) / 2)  # the border of the last cell
    fine = np.linspace(log[0], log[-1], 100)
    depth = 1 - distance / np.exp(fine)
    inside = (depth >= depths[0]) & (depth <= depths[-1])
    if inside.sum() > 1:
        columns = [*np.arange(len(lengths)) + 0.5, len(lengths)]
        x = np.interp(fine, log, columns)[inside]
        y = np.interp(depth[inside], depths, np.arange(len(depths)) + 0.5)
        dashed = {"linestyle": (0, (3, 1.5)), "linewidth": 0.9, "color": INK}
        panel.plot(x, y, label=f"{distance} tokens to the query", **dashed)
        wide, _ = _cell(panel, depths, lengths)
        if wide > CROWDED:
            beside = {"textcoords": "offset points", "va": "center", "fontsize": 6}
            panel.annotate(f"{distance}", (x[-1], y[-1]), (1.5, 0), color=INK, **beside)
