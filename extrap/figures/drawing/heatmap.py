"""Accuracy over depth and length as heat-maps, a panel per series and protocol: what figures of
retrieval share.
"""

import math

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle

from extrap.figures.drawing.axes import note
from extrap.figures.drawing.layout import leftmost, panels
from extrap.figures.drawing.page import POINT, text_width
from extrap.figures.drawing.palette import BELOW_GATE
from extrap.figures.drawing.style import style_of
from extrap.figures.drawing.titles import entitle
from extrap.results.series import select, series

ACROSS, DISTANCES, INK = 5, (1, 2, 4), "#ff1f5b"
GAP, TITLE = 0.36, 7.5
MARKS = (
    "red line: the training length L; dashed: records that lie L, 2L and 4L tokens before the "
    "query; hatched: below the gate"
)


def heat_maps(rows, needs: dict, protocols: tuple[str, ...], title: str):
    """A figure of the rows that a module NEEDS, the panels of a protocol side by side."""
    rows = select(rows, **needs).dropna(subset="depth")
    rows = rows[rows["protocol"].isin(protocols)]
    blocks = [
        block
        for p in protocols
        if (block := [(s, p) for s in series(rows) if p in set(s.rows["protocol"])])
    ]
    most = max(map(len, blocks))
    columns = math.ceil(most / math.ceil(most / ACROSS))
    lines = [block[k : k + columns] for block in blocks for k in range(0, len(block), columns)]
    depths, lengths = np.unique(rows["depth"]), np.unique(rows["length"].astype(int))
    titles = [f"{s.label} · {p}" for block in blocks for s, p in block]
    width = max(0.34 * len(lengths), POINT * text_width(titles, TITLE) + 0.12 - GAP)
    figure, axes = panels(
        (len(lines), columns),
        (width, 0.225 * len(depths)),
        right=0.95,
        gap=GAP,
        between=0.5,
        least=0.27 * len(lengths),
    )
    for i, j in np.ndindex(axes.shape):
        if j >= len(lines[i]):
            axes[i, j].remove()
            continue
        panel, (s, protocol) = axes[i, j], lines[i][j]
        _cells(panel, s, s.rows[s.rows["protocol"] == protocol], depths, lengths)
        panel.set_title(f"{s.label} · {protocol}", color=style_of(s).text, fontsize=TITLE, pad=3)
        panel.set_xticks(np.arange(len(lengths)) + 0.5, [str(n) for n in lengths], fontsize=6.5)
        panel.set_yticks(
            np.arange(len(depths)) + 0.5,
            [f"{depth:g}" for depth in depths] if leftmost(panel) else [""] * len(depths),
        )
        panel.set_ylabel("depth (0 = start)" if leftmost(panel) else "")
        panel.set_xlabel("length (tokens)" if i == len(lines) - 1 or j >= len(lines[i + 1]) else "")
    _scale(figure, axes[0, -1])
    entitle(figure, title, f"{note(rows)} · {MARKS}")
    return figure


def _cells(panel, s, rows, depths, lengths) -> None:
    """Rows are depths, columns lengths, each one cell wide; cells without a measurement
    stay blank.
    """
    mean = (
        rows.groupby(["depth", "length"])["value"]
        .mean()
        .unstack()
        .reindex(index=depths, columns=lengths)
        .to_numpy(float)
    )
    colours = {"cmap": "viridis", "vmax": 1} if s.ok else {"cmap": "Greys", "vmax": 2}
    panel.pcolormesh(
        np.ma.masked_invalid(mean), vmin=0, edgecolors="white", linewidth=0.4, **colours
    )
    for i, j in zip(*np.nonzero(~np.isnan(mean)), strict=True):
        ink = "white" if s.ok and mean[i, j] < 0.6 else "black"
        panel.text(
            j + 0.5,
            i + 0.5,
            f"{mean[i, j]:.2f}".lstrip("0"),
            ha="center",
            va="center",
            fontsize=6,
            color=ink,
            zorder=4,
        )
    measured = np.flatnonzero(~np.isnan(mean).all(axis=0))
    if not s.ok:
        size = measured[-1] + 1, len(depths)
        panel.add_patch(
            Rectangle(
                (0, 0), *size, facecolor="none", edgecolor=BELOW_GATE, hatch="////", linewidth=0
            )
        )
    _marks(panel, depths, lengths[: measured[-1] + 1], int(rows["train_length"].min()))
    panel.grid(visible=False)
    panel.tick_params(length=0, pad=2)
    panel.spines[:].set_visible(False)
    panel.set(xlim=(0, len(lengths)), ylim=(len(depths), 0))


def _marks(panel, depths, lengths, train_length) -> None:
    """The border of the training length, and curves of equal distance in the uneven coordinates of
    the cells.
    """
    panel.axvline(
        np.searchsorted(lengths, train_length, side="right"),
        color=INK,
        linewidth=1.2,
        label="training length",
    )
    if len(lengths) < 2:
        return
    log = np.log(lengths)
    edge = (
        log[-1] + (log[-1] - log[-2]) / 2
    )  # half a step beyond the centre of the last cell is its border
    fine = np.linspace(log[0], edge, 100)
    x = np.interp(fine, [*log, edge], [*np.arange(len(lengths)) + 0.5, len(lengths)])
    for distance in (multiple * train_length for multiple in DISTANCES):
        depth = 1 - distance / np.exp(fine)
        inside = (depth >= depths[0]) & (depth <= depths[-1])
        if inside.sum() > 1:
            y = np.interp(depth[inside], depths, np.arange(len(depths)) + 0.5)
            panel.plot(
                x[inside],
                y,
                color=INK,
                linestyle=(0, (3, 1.5)),
                linewidth=0.9,
                label=f"{distance} tokens to the query",
            )
            panel.annotate(
                f"{distance}",
                (x[inside][-1], y[-1]),
                (1.5, 0),
                textcoords="offset points",
                va="center",
                fontsize=6,
                color=INK,
            )


def _scale(figure, panel) -> None:
    """One colour bar right of the first line of panels."""
    box, inch = panel.get_position(), 1 / figure.get_size_inches()[0]
    axes = figure.add_axes((box.x1 + 0.35 * inch, box.y0, 0.1 * inch, box.height))
    figure.colorbar(
        ScalarMappable(Normalize(0, 1), "viridis"), cax=axes, label="accuracy"
    ).outline.set_visible(False)
