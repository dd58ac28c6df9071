"""RoPE's upper bound of a score against distance, (2/d) sum_j |S_j|: the decay that its paper
proves.

S_j = sum_{p<j} e^(i n theta_p), j = 1 .. d/2; Abel summation bounds a score by max |h_(p+1) - h_p|
sum_j |S_j|. A loose bound, not monotone, and none for what trained heads do: figure rope_scores.
arXiv 2104.09864, section 3.4.3 and figure 2.
"""

import numpy as np
import torch

from extrap.figures.drawing import INKS
from extrap.model.functional import frequencies
from extrap.studies.analytic.figures.panel import framed, named

NEEDS: dict = {}

WIDTHS = (64, 128)
BASES = (1e3, 1e4, 1e5)
DISTANCES = 257


def data(width: int = 128, base: float = 1e4, distances: int = DISTANCES) -> np.ndarray:
    """(distances,) the bound at distance 0, 1, 2, ..."""
    distance = torch.arange(distances, dtype=torch.float64)
    angle = distance[:, None] * frequencies(width, base)
    turned = torch.polar(torch.ones_like(angle), angle)
    sums = turned.cumsum(-1)
    return sums.abs().mean(-1).numpy()


def draw():
    note = (
        "(2/d) times the sum over j of |S_j|, S_j the sum of e^(i n theta_p) over the first j pairs"
    )
    figure, axes = framed(
        [f"d = {width}" for width in WIDTHS], "RoPE: the bound on a score falls with distance", note
    )
    for panel, width in zip(axes, WIDTHS, strict=True):
        for base, ink in zip(BASES, INKS, strict=False):
            bound = data(width, base)
            panel.plot(bound, color=ink, linewidth=1.2, label=f"base {base:g}")
        up = "bound" if panel is axes[0] else ""
        panel.set(xlabel="distance (tokens)", ylabel=up, ylim=(0, 34))
        named(panel)
    return figure
