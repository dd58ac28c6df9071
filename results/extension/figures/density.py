"""How densely angles may lie: loss and retrieval within the training length when pairs are
interpolated by k.

Everything else is fixed. Black: all pairs together, which is position interpolation; colours: one
pair alone, from the fastest to the slowest. Dashed: what costs 0.05 nats, or 5 points of accuracy;
the legend gives the greatest measured k that costs less.
"""

import numpy as np
from matplotlib import colormaps
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from extrap.figures.drawing.axes import note
from extrap.figures.drawing.ends import End, label_ends, label_room
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.style import SOLID, Style
from extrap.figures.drawing.titles import entitle
from extrap.results.series import select
from extrap.studies.extension.limit import ALLOWED, costs, greatest

NEEDS = {"task": "nll", "metric": "nll"}
PROBE = "pi-pair,pair=null"
OF = " of the plain reader and of extension=pi-pair, and of single pairs"
MAKE = " extension=pi-pair extension.pair=null extension.factor=1.5,2,4"
TITLES = {"nll": "text", "accuracy": "retrieval"}
LABELS = {"nll": "added nats per token", "accuracy": "accuracy lost, all depths"}


def enough(rows) -> bool:
    """Whether the plain reader is there, too, which costs are counted from."""
    probed = rows.loc[rows["extension"] == PROBE, "run"]
    return bool((rows["run"].isin(probed) & (rows["extension"] == "direct")).any())


def draw(rows):
    found = costs(rows)
    shown = [metric for metric in TITLES if metric in set(found["metric"])]
    pairs = sorted(found["pair"].unique(), key=lambda pair: (pair is not None and pair >= 0, pair))
    inks = {
        pair: colormaps["viridis"](0.92 * i / max(1, len(pairs) - 2))
        for i, pair in enumerate(pairs[1:])
    } | {-1: (0, 0, 0, 1)}
    room = label_room(["pair 0: k = 1.05 and more"])
    figure, axes = panels((1, len(shown)), (1.8, 2.5), right=room, gap=room + 0.6, top=0.5)
    for panel, metric in zip(axes[0], shown, strict=True):
        ends = [
            _curve(
                panel,
                found[(found["metric"] == metric) & (found["pair"] == pair)],
                pair,
                inks[pair],
                metric,
            )
            for pair in pairs
        ]
        panel.axhline(
            ALLOWED[metric],
            color="#222222",
            linestyle=(0, (4, 1.5)),
            linewidth=0.8,
            label="allowed",
            zorder=1,
        )
        panel.set_xscale("log", base=2)
        ticks = [k for k in sorted(found["k"].unique()) if k in (1, 1.5, 2, 4, 8, 16)]
        panel.xaxis.set_major_locator(FixedLocator(ticks))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_major_formatter(FuncFormatter(lambda k, _: f"{k:g}"))
        panel.set(
            xlabel="k: angles of a pair divided by", ylabel=LABELS[metric], title=TITLES[metric]
        )
        panel.set_yscale("symlog", linthresh=ALLOWED[metric])
        panel.yaxis.set_major_locator(FixedLocator([-0.05, 0, 0.05, 0.1, 0.2, 0.5, 1, 2]))
        panel.yaxis.set_minor_locator(NullLocator())
        panel.yaxis.set_major_formatter(FuncFormatter(lambda cost, _: f"{cost:g}"))
        panel.set_ylim(bottom=min(-ALLOWED[metric] / 5, found["cost"].min()))
        label_ends(panel, ends)
    read = note(select(rows, **NEEDS, extension=PROBE))
    entitle(
        figure,
        "How densely angles may lie",
        f"{read} · read within the training length · dashed: the limit",
    )
    return figure


def _curve(panel, rows, pair, ink, metric) -> End:
    rows = rows.sort_values("k")
    style = Style(
        "#{:02x}{:02x}{:02x}".format(*(round(255 * c) for c in ink[:3])),
        SOLID,
        "o" if pair < 0 else "s",
    )
    panel.plot(
        rows["k"],
        rows["cost"],
        label="all" if pair < 0 else f"pair {pair}",
        zorder=4 if pair < 0 else 3,
        **style.stroke,
    )
    return End(
        f"{'all' if pair < 0 else f'pair {pair}'}: {greatest(rows, metric)}",
        style,
        rows["k"].iloc[-1],
        np.nan_to_num(rows["cost"].iloc[-1]),
    )
