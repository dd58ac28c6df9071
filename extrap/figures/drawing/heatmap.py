"""Numbers in coloured cells; and accuracy over depth and length in such cells, a panel per series
and protocol.
"""

import math

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle

from extrap.figures.drawing.axes import note
from extrap.figures.drawing.layout import leftmost, panels
from extrap.figures.drawing.page import POINT, text_width
from extrap.figures.drawing.palette import BELOW_GATE, ink_on
from extrap.figures.drawing.style import style_of
from extrap.figures.drawing.titles import entitle
from extrap.results.series import select, series

ACROSS, DISTANCES, INK = 5, (1, 2, 4), "#ff1f5b"
GAP, TITLE = 0.36, 7.5
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
    for i, j in zip(*np.nonzero(~np.ma.getmaskarray(table)), strict=True):
        middle = {"ha": "center", "va": "center", "fontsize": 6.5}
        middle |= {"color": ink_on(mesh.to_rgba(table[i, j]))}
        panel.text(j + 0.5, i + 0.5, form(table[i, j]), **middle)


def heat_maps(rows, needs: dict, protocols: tuple[str, ...], title: str):
    """Returns a figure of the rows that a module NEEDS, the panels of a protocol side by side."""
    rows = select(rows, **needs).dropna(subset="depth")
    rows = rows[rows["protocol"].isin(protocols)]
    blocks = [[(s, p) for s in series(rows[rows["protocol"] == p])] for p in protocols]
    blocks = [block for block in blocks if block]
    most = max(map(len, blocks))
    columns = math.ceil(most / math.ceil(most / ACROSS))
    lines = [block[k : k + columns] for block in blocks for k in range(0, len(block), columns)]
    depths, lengths = np.unique(rows["depth"]), np.unique(rows["length"].astype(int))
    titles = [f"{s.label} · {p}" for block in blocks for s, p in block]
    width = max(0.34 * len(lengths), POINT * text_width(titles, TITLE) + 0.12 - GAP)
    size, margins = (width, 0.225 * len(depths)), {"right": 0.95, "gap": GAP, "between": 0.5}
    figure, axes = panels((len(lines), columns), size, least=0.27 * len(lengths), **margins)
    for i, j in np.ndindex(axes.shape):
        panel = axes[i, j]
        if j >= len(lines[i]):
            panel.remove()
            continue
        s, protocol = lines[i][j]
        _map(panel, s, depths, lengths)
        panel.set_title(f"{s.label} · {protocol}", color=style_of(s).text, fontsize=TITLE, pad=3)
        panel.set_xticks(np.arange(len(lengths)) + 0.5, map(str, lengths), fontsize=6.5)
        named = [f"{depth:g}" if leftmost(panel) else "" for depth in depths]
        panel.set_yticks(np.arange(len(depths)) + 0.5, named)
        panel.set_ylabel("depth (0 = start)" if leftmost(panel) else "")
        panel.set_xlabel("length (tokens)" if i == len(lines) - 1 or j >= len(lines[i + 1]) else "")
    box, inch = axes[0, -1].get_position(), 1 / figure.get_size_inches()[0]
    beside = figure.add_axes((box.x1 + 0.35 * inch, box.y0, 0.1 * inch, box.height))
    bar = figure.colorbar(ScalarMappable(Normalize(0, 1), "viridis"), cax=beside, label="accuracy")
    bar.outline.set_visible(False)
    entitle(figure, title, f"{note(rows)} · {MARKS}")
    return figure


def _map(panel, s, depths, lengths) -> None:
    """Draws means over seeds, grey and hatched for a series below the gate."""
    means = s.rows.groupby(["depth", "length"])["value"].mean().unstack()
    table = means.reindex(index=depths, columns=lengths).to_numpy(float)
    colours = {"cmap": "viridis", "vmax": 1} if s.ok else {"cmap": "Greys", "vmax": 2}
    cells(panel, table, lambda share: f"{share:.2f}".lstrip("0"), vmin=0, **colours)
    read = int(np.flatnonzero(~np.isnan(table).all(axis=0))[-1]) + 1
    if not s.ok:
        lost = {"facecolor": "none", "edgecolor": BELOW_GATE, "hatch": "////", "linewidth": 0}
        panel.add_patch(Rectangle((0, 0), read, len(depths), **lost))
    trained = int(s.rows["train_length"].min())
    border = np.searchsorted(lengths[:read], trained, side="right")
    panel.axvline(border, color=INK, linewidth=1.2, label="training length")
    for distance in (multiple * trained for multiple in DISTANCES if read > 1):
        _distance(panel, depths, lengths[:read], distance)
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
        x = np.interp(fine, log, [*np.arange(len(lengths)) + 0.5, len(lengths)])[inside]
        y = np.interp(depth[inside], depths, np.arange(len(depths)) + 0.5)
        dashed = {"linestyle": (0, (3, 1.5)), "linewidth": 0.9, "color": INK}
        panel.plot(x, y, label=f"{distance} tokens to the query", **dashed)
        beside = {"textcoords": "offset points", "va": "center", "fontsize": 6}
        panel.annotate(f"{distance}", (x[-1], y[-1]), (1.5, 0), color=INK, **beside)
