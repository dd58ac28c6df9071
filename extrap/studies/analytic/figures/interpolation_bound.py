"""How large a score beyond the training length may get for free: B(s)/d, which interpolation's
error bound does not need.

B(s) = sum_{k=0}^{d/2-1} |A_(k+1)(s)|, A_k = sum_{p<k} e^(i s theta_p), so that |a(s)| <= 2 max
|h_(p+1) - h_p| B(s). Interpolated scores lie within d max |h| / (4 ln base) of the straight line
between whole positions. Whether B(s)/d stays above 1 depends on d. arXiv 2306.15595, theorem 2.1
and figure 5.
"""

import numpy as np

from extrap.figures.drawing import INKS
from extrap.studies.analytic.figures.panel import framed, named
from extrap.studies.analytic.figures.rope_decay import data as bound

NEEDS: dict = {}

WIDTHS = (64, 128)
BASE = 1e4
DISTANCES = 4501


def data(width: int = 128, distances: int = DISTANCES) -> np.ndarray:
    """(distances,) B(s)/d at s = 0, 1, 2, ...: half of the mean of |A| over d/2 partial sums."""
    return bound(width, BASE, distances) / 2


def draw():
    note = (
        f"base {BASE:g}; dashed: 1. Above it the bound on extrapolated scores is weaker than d "
        "times the largest coefficient"
    )
    title = "The bound on extrapolated scores does not fade"
    figure, (panel,) = framed(["B(s) / d"], title, note, size=(4.6, 2.4))
    for width, ink in zip(WIDTHS, INKS, strict=False):
        bounds = data(width)
        panel.plot(bounds, color=ink, linewidth=0.7, label=f"d = {width}")
    dashes = (0, (4, 1.5))
    panel.axhline(1, color="#222222", linestyle=dashes, linewidth=0.9)
    panel.set(xlabel="distance s (tokens)", ylabel="B(s) / d", ylim=(0, 17))
    named(panel)
    return figure
