"""The same last tokens with more and more context: what is it worth, and what of it past L?

Left: loss less that with L/2 tokens of context; right: loss less that with the last L tokens alone
(crop), which any model has that throws the rest away: below 0 text from further back than L helps.
Both frames end at .3 nats, where lines leave them. A series whose gain at L does not lie below 0
ignores its context and is marked "below the gate". Conventions of arXiv 2305.19466 (appendix F).
"""

from dataclasses import replace

import numpy as np

from extrap.figures.drawing.axes import QUIET, length_axis, mark_training, spread_note
from extrap.figures.drawing.ends import label_ends, label_height, label_room
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.lines import curve
from extrap.figures.drawing.titles import entitle
from extrap.results.series import select, series

NEEDS = {"task": "context-gain", "metric": "gain", "seen": "text"}
PANELS = {"gain": "against L/2 tokens of context", "crop": "against the last L tokens alone"}
CUT = 0.3


def draw(rows):
    rows = select(rows, **NEEDS)
    over = {"gain": rows[rows["protocol"] == "full"], "crop": over_crop(rows)}
    shown = [name for name, part in over.items() if len(part)]
    room = label_room([f"{s.label} (to 64)" for s in series(rows)])
    height = label_height(len(series(rows)), 2.5)
    figure, axes = panels((1, len(shown)), (2.5, height), right=room, gap=0.3, top=0.86)
    trained = sorted(rows["train_length"].unique())
    low = min(float(over[name]["value"].min()) for name in shown)
    for panel, name in zip(axes[0], shown, strict=True):
        ends = [curve(panel, s, s.rows, "length") for s in series(over[name])]
        panel.axhline(0, color=QUIET, linewidth=0.8, label="zero", zorder=1.5)
        length_axis(panel, rows["length"].astype(float), trained)
        mark_training(panel, trained)
        panel.set_ylim(1.25 * low, CUT)
        panel.set_title(PANELS[name], pad=16)
        panel.set_xlabel("visible context (tokens)")
        panel.tick_params(labelleft=panel is axes[0, 0])
        if panel is axes[0, -1]:
            label_ends(panel, [replace(end, y=min(end.y, CUT)) for end in ends])
    axes[0, 0].set_ylabel("change of loss (nats per token)")
    bands = "bands: 95 % bootstrap over documents"
    entitle(
        figure,
        "What more context is worth",
        f"{spread_note(rows, bands)} · above {CUT:g} is cut off",
    )
    return figure


def over_crop(rows):
    """The gain of the whole context less that of its last L tokens, 0 at L itself; paired by run
    and reader, without the interval of documents, which rows do not hold for it.
    """
    rows = rows.assign(factor=rows["factor"].fillna(1.0))
    place = ["run", "extension", "factor", "length"]
    crop = rows[rows["protocol"] == "crop"].set_index(place)["value"]
    full = rows[(rows["protocol"] == "full") & (rows["length"] >= rows["train_length"])]
    base = crop.reindex(list(zip(*(full[name] for name in place), strict=True))).to_numpy(float)
    at_length = (full["length"] == full["train_length"]).to_numpy()
    base = np.where(at_length, full["value"], base)
    out = full.assign(value=full["value"] - base, low=np.nan, high=np.nan)
    return out[out["value"].notna()]
