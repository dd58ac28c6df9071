"""The phases each pair of RoPE met in training, and those it meets first beyond: slow pairs go on
into arcs never seen.

A circle per pair: solid, the arc of distances 0 .. L - 1; dashed, outside it, what distances up to
s L - 1 add.
"""

from math import pi

import numpy as np

from extrap.figures.drawing import INKS
from extrap.model.functional import frequencies
from extrap.studies.analytic.figures.panel import framed

NEEDS: dict = {}

WIDTH = 16
BASE = 1e4
LENGTH = 64
FACTOR = 4


def data(
    width: int = WIDTH, base: float = BASE, length: int = LENGTH, factor: int = FACTOR
) -> dict[str, np.ndarray]:
    """trained, extrapolated (d/2,): arc in radians, at most a full circle, of distances below L and
    below s L; coverage: their ratio.
    """
    theta = frequencies(width, base).numpy()
    circle = 2 * pi
    longer = factor * length
    trained = np.minimum(circle, (length - 1) * theta)
    beyond = np.minimum(circle, (longer - 1) * theta)
    return {"trained": trained, "extrapolated": beyond, "coverage": trained / beyond}


def draw():
    found = data()
    coverage = found["coverage"]
    titles = [f"pair {p}: {share:.0%} seen" for p, share in enumerate(coverage)]
    note = (
        f"d = {WIDTH}, base {BASE:g}, L = {LENGTH}, s = {FACTOR}; solid: phases of distances "
        "below L; dashed: those that s L tokens add"
    )
    title = "RoPE: phases trained, and phases never seen"
    figure, axes = framed(titles, title, note, size=(1.05, 1.05), gap=0.12)
    added = {"color": INKS[3], "linewidth": 1.8, "linestyle": (0, (2, 1))}
    within = (-1.3, 1.3)
    phases = zip(axes, found["trained"], found["extrapolated"], strict=True)
    for panel, trained, beyond in phases:
        _arc(panel, 0, 2 * pi, 1, color="#cccccc", linewidth=0.6)
        _arc(panel, 0, trained, 1, color=INKS[0], linewidth=1.8)
        _arc(panel, trained, beyond, 1.15, **added)
        panel.plot([0, 1], [0, 0], color="#888888", linewidth=0.5)
        panel.set(aspect="equal", xlim=within, ylim=within, xticks=(), yticks=())
        panel.title.set_fontsize(6.8)
        panel.spines[:].set_visible(False)
    return figure


def _arc(panel, start: float, end: float, radius: float, **stroke) -> None:
    angle = np.linspace(start, end, 200)
    x = radius * np.cos(angle)
    y = radius * np.sin(angle)
    panel.plot(x, y, **stroke)
