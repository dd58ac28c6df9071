"""Entropy of attention over ln n against the number n of keys seen: does attention dilute as the
text grows?

1 is uniform attention, 0 a single key; mean over layers, heads, inputs and seeds, at the greatest
length. log-n heats logits so that it stays flat. https://kexue.fm/archives/8823.
"""

import numpy as np

from extrap.figures.drawing import entitle, mark_training, note
from extrap.figures.drawing.diagnostics import state_panels
from extrap.results.series import one_factor, select

NEEDS = {"task": "diagnostics", "metric": "entropy"}


def draw(rows):
    rows = select(rows, **NEEDS)
    rows = rows.assign(factor=one_factor(rows))
    readers = rows.groupby(["study", "run", "extension", "factor"])
    rows = rows[rows["length"] == readers["length"].transform("max")]
    # layers and inputs are no independent samples, so that no interval is kept
    kept = [c for c in rows.columns if c not in ("layer", "value", "low", "high")]
    rows = rows.groupby(kept, dropna=False, sort=False)["value"].mean().reset_index()
    rows = rows.assign(low=np.nan, high=np.nan, layer=np.nan)
    means = {"band": 0, "thin": False}
    figure, axes = state_panels(rows, "keys seen", "entropy / ln n", 1.9, **means)
    for panel in axes.flat:
        mark_training(panel, sorted(rows["train_length"].unique()))
    words = f"{note(rows)} · means over layers and seeds · dotted: the training length"
    entitle(figure, "Entropy of attention as the text grows", words)
    return figure
