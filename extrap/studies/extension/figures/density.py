"""How densely angles may lie: loss and retrieval within the training length when pairs are
interpolated by k.

Everything else is fixed. Black: all pairs together, which is position interpolation; colours: one
pair alone, from the fastest to the slowest. Dashed: what costs 0.05 nats, or 5 points of accuracy;
the legend gives the greatest measured k that costs less.
"""

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import to_hex

from extrap.figures.drawing import (
    DASHED,
    SOLID,
    End,
    Style,
    bound,
    entitle,
    label_ends,
    label_room,
    log2_axis,
    note,
    panels,
    ticks,
)
from extrap.results.series import behind, select
from extrap.studies.extension.limit import ALL, ALLOWED, costs, greatest

NEEDS = {"task": "nll", "metric": "nll"}
PROBE = "pi-pair,pair=null"
OF = " of the plain reader and of extension=pi-pair, and of single pairs"
MAKE = " extension=pi-pair extension.pair=null extension.factor=1.5,2,4"
TITLES = {"nll": "text", "accuracy": "retrieval"}
LABELS = {"nll": "added nats per token", "accuracy": "accuracy lost, all depths"}


def enough(rows) -> bool:
    """Whether the plain reader is there, too, which costs are counted from."""
    probed = rows.loc[behind(rows["extension"]) == PROBE, "run"]
    plain = rows[rows["extension"] == "direct"]
    return bool(plain["run"].isin(probed).any())


def draw(rows):
    found = costs(rows)
    shown = [metric for metric in TITLES if metric in set(found["metric"])]
    pairs = sorted(found["pair"].unique())
    last = max(1, len(pairs) - 2)
    steps = 0.92 * np.arange(len(pairs) - 1) / last
    styles = [Style("#000000", SOLID, "o")]
    for ink in colormaps["viridis"](steps):
        styles.append(Style(to_hex(ink), SOLID, "s"))
    factors = [k for k in sorted(found["k"].unique()) if k in (1, 1.5, 2, 4, 8, 16)]
    least = found["cost"].min()
    room = label_room(["pair 0: k = 1.05 and more"])
    figure, axes = panels((1, len(shown)), (1.8, 2.5), right=room, gap=room + 0.6, top=0.5)
    for panel, metric in zip(axes[0], shown, strict=True):
        part = found[found["metric"] == metric]
        allowed = ALLOWED[metric]
        ends = []
        for pair, style in zip(pairs, styles, strict=True):
            of_pair = part[part["pair"] == pair]
            ends.append(_curve(panel, of_pair, pair, style, metric))
        bound(panel.axhline, allowed, "allowed", DASHED)
        log2_axis(panel, factors)
        panel.set(xlabel="k: angles of a pair divided by", ylabel=LABELS[metric])
        panel.set_title(TITLES[metric])
        panel.set_yscale("symlog", linthresh=allowed)
        ticks(panel.yaxis, [-0.05, 0, 0.05, 0.1, 0.2, 0.5, 1, 2], lambda cost, _: f"{cost:g}")
        panel.set_ylim(bottom=min(-allowed / 5, least))
        label_ends(panel, ends)
    probes = rows[behind(rows["extension"]) == PROBE]
    read = note(select(probes, **NEEDS))
    below = f"{read} · read within the training length · dashed: the limit"
    entitle(figure, "How densely angles may lie", below)
    return figure


def _curve(panel, rows, pair: int, style: Style, metric: str) -> End:
    rows = rows.sort_values("k")
    name = "all" if pair == ALL else f"pair {pair}"
    order = 4 if pair == ALL else 3
    panel.plot(rows["k"], rows["cost"], label=name, zorder=order, **style.stroke)
    last = rows.iloc[-1]
    cost = float(np.nan_to_num(last["cost"]))
    return End(f"{name}: {greatest(rows, metric)}", style, last["k"], cost)
