"""Why interpolation is safe and extrapolation is not: a score fitted inside the training length,
read beyond it and between its points.

a(s) = sum_p b_p sin(s theta_p) + c_p cos(s theta_p), least squares to N(0, 1) targets at s = 0 .. L
- 1. arXiv 2306.15595, figure 2.
"""

import numpy as np

from extrap.figures.drawing import INKS
from extrap.model.functional import frequencies
from extrap.studies.analytic.figures.panel import framed

NEEDS: dict = {}

WIDTH, BASE, LENGTH = 128, 1e4, 2048
SINGLE = 1e-7  # directions of the fit that single precision cannot tell from 0 are left out
DETAIL = (25, 75, 0.125)


def data(seed: int = 0) -> dict[str, np.ndarray]:
    """targets (L,); fitted (L,) at the points of the fit; beyond (2L,); between: s from 25 to 75 in
    eighths.
    """
    theta = frequencies(WIDTH, BASE).numpy()

    def features(s: np.ndarray) -> np.ndarray:
        return np.concatenate([np.sin(s[:, None] * theta), np.cos(s[:, None] * theta)], 1)

    targets = np.random.default_rng(seed).standard_normal(LENGTH)
    weights = np.linalg.lstsq(features(np.arange(LENGTH)), targets, rcond=SINGLE)[0]
    found = {
        "fitted": np.arange(LENGTH),
        "beyond": np.arange(2 * LENGTH),
        "between": np.arange(*DETAIL),
    }
    return {name: features(s) @ weights for name, s in found.items()} | {"targets": targets}


def draw():
    found = data()
    note = (
        f"d = {WIDTH}, base {BASE:g}, L = {LENGTH}; targets N(0, 1) at whole s below L; dotted: "
        "L, and whole s in the detail"
    )
    titles = ["inside the training length", "beyond it", "between whole positions"]
    figure, (inside, beyond, between) = framed(
        titles,
        "A score that is fitted inside L explodes beyond it, not between",
        note,
        size=(2.4, 2.0),
    )
    inside.plot(found["targets"], ".", color="#cccccc", markersize=1)
    inside.plot(found["fitted"], color=INKS[0], linewidth=0.6)
    inside.set_ylim(-3, 3)
    beyond.plot(found["beyond"], color=INKS[3], linewidth=0.8)
    beyond.axvline(LENGTH, color="#222222", linestyle=(0, (1, 1.6)), linewidth=0.9)
    s = np.arange(*DETAIL)
    between.plot(s, found["between"], color=INKS[0], linewidth=1.0)
    whole = s == s.round()
    between.plot(s[whole], found["between"][whole], ".", color=INKS[1], markersize=3)
    for panel in (inside, beyond, between):
        panel.set(xlabel="distance s (tokens)", ylabel="a(s)" if panel is inside else "")
    return figure
