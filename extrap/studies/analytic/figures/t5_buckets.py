"""T5's buckets of distance: one per distance up to half of them, logarithmic up to the greatest,
one for all that is farther.

arXiv 1910.10683. 32 buckets, greatest distance 128, causal. What training puts into the buckets:
figure bias_curves of a study.
"""

import numpy as np
import torch

from extrap.figures.drawing import INKS
from extrap.model.functional import bucket
from extrap.studies.analytic.figures.panel import decades, framed

NEEDS: dict = {}

BUCKETS, FARTHEST, DISTANCES = 32, 128, 513


def data() -> np.ndarray:
    """(distances,) bucket of distance 0, 1, 2, ..."""
    return bucket(torch.arange(DISTANCES), BUCKETS, FARTHEST).numpy()


def draw():
    buckets = data()
    note = (
        f"{BUCKETS} buckets, greatest distance {FARTHEST}; dotted: where buckets stop being "
        "exact, and where the last one begins"
    )
    figure, axes = framed(
        ["linear distance", "logarithmic distance"], "T5: which bucket a distance falls into", note
    )
    exact = BUCKETS // 2
    last = int(np.argmax(buckets == BUCKETS - 1))
    dots = (0, (1, 1.6))
    for panel, scale in zip(axes, ("linear", "log"), strict=True):
        shift = 1 if scale == "log" else 0
        panel.step(
            np.arange(DISTANCES) + shift,
            buckets,
            where="post",
            color=INKS[2],
            linewidth=1.4,
        )
        for mark in (exact, last):
            panel.axvline(mark + shift, color="#222222", linestyle=dots, linewidth=0.9)
            panel.annotate(
                f"{mark}",
                (mark + shift, 0),
                (2, 1),
                textcoords="offset points",
                fontsize=6.5,
            )
        panel.set_xscale(scale)
        if scale == "log":
            decades(panel.xaxis)
        panel.set(
            xlabel="distance (tokens)" if scale == "linear" else "distance + 1 (tokens)",
            ylabel="bucket",
            ylim=(-1, BUCKETS),
        )
    return figure
