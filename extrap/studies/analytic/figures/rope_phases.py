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

WIDTH, BASE, LENGTH, FACTOR = 16, 1e4, 64, 4


def data(
    width: int = WIDTH, base: float = BASE, length: int = LENGTH, factor: int = FACTOR
) -> dict[str, np.ndarray]:
    """trained, extrapolated (d/2,): arc in radians, at most a full circle, of distances below L and
    below s L; coverage: their ratio.
    """
    theta = frequencies(width, base).numpy()
    trained = np.minimum(2 * pi, (length - 1) * theta)
    beyond = np.minimum(2 * pi, (factor * length - 1) * theta)
    return {"trained": trained, "extrapolated": beyond, "coverage": trained / beyond}


def draw():
    found = data()
    titles = [f"pair {p}: {share:.0%} seen" for p, share in enumerate(found["coverage"])]
    note = (
        f"d = {WIDTH}, base {BASE:g}, L = {LENGTH}, s = {FACTOR}; solid: phases of distances "
        "below L; dashed: those that s L tokens add"
    )
    figure, axes = framed(
        titles, "RoPE: phases trained, and phases never seen", note, size=(1.05, 1.05), gap=0.12
    )
    for panel, trained, beyond in zip(axes, found["trained"], found["extrapolated"], strict=True):
        _arc(panel, 0, 2 * pi, 1, color="#cccccc", linewidth=0.6)
        _arc(panel, 0, trained, 1, color=INKS[0], linewidth=1.8)
        _arc(panel, trained, beyond, 1.15, color=INKS[3], linewidth=1.8, linestyle=(0, (2, 1)))
        panel.plot([0, 1], [0, 0], color="#888888", linewidth=0.5)
        panel.set(aspect="equal", xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), xticks=(), yticks=())
        panel.title.set_fontsize(6.8)
        panel.spines[:].set_visible(False)
    return figure


def _arc(panel, start: float, end: float, radius: float, **stroke) -> None:
    angle = np.linspace(start, end, 200)
    panel.plot(radius * np.cos(angle), radius * np.sin(angle), **stroke)
