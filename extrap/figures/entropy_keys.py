"""Entropy of attention over ln n against the number n of keys seen: does attention dilute as the
text grows?

1 is uniform attention, 0 a single key; mean over layers, heads and inputs, at the greatest length.
log-n heats logits so that it stays flat. https://kexue.fm/archives/8823.
"""

import numpy as np

from extrap.figures.drawing.axes import mark_training, note
from extrap.figures.drawing.diagnostics import beside_columns, columns, lines
from extrap.figures.drawing.ends import label_ends
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.titles import entitle
from extrap.results.series import select

NEEDS = {"task": "diagnostics", "metric": "entropy"}


def draw(rows):
    rows = select(rows, **NEEDS)
    longest = rows.groupby("run")["length"].transform("max")
    rows = _over_layers(rows[rows["length"] == longest])
    shown, (height, room) = columns(rows), beside_columns(rows, 1.9)
    figure, axes = panels((1, len(shown)), (2.1, height), right=room, gap=0.25)
    for panel, (name, part) in zip(axes[0], shown, strict=True):
        ends = lines(panel, part, "at")
        panel.set_xscale("log", base=2)
        panel.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
        mark_training(panel, sorted(rows["train_length"].unique()))
        panel.set(ylim=(-0.02, 1.04), title=name, xlabel="keys seen")
        panel.tick_params(labelleft=panel is axes[0, 0])
        if panel is axes[0, -1]:
            label_ends(panel, ends)
    axes[0, 0].set_ylabel("entropy / ln n")
    entitle(
        figure,
        "Entropy of attention as the text grows",
        f"{note(rows)} · dotted: the training length",
    )
    return figure


def _over_layers(rows):
    """One row per run and place; layers and inputs are no independent samples of one another, so no
    interval is kept.
    """
    kept = [c for c in rows.columns if c not in ("layer", "value", "low", "high")]
    out = rows.groupby(kept, dropna=False, sort=False)["value"].mean().reset_index()
    return out.assign(low=np.nan, high=np.nan, layer=np.nan)
