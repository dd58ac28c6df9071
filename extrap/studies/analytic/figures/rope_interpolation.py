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

WIDTH = 128
BASE = 1e4
LENGTH = 2048
SINGLE = 1e-7  # directions of the fit that single precision cannot tell from 0 are left out
DETAIL = (25, 75, 0.125)


def data(seed: int = 0) -> dict[str, np.ndarray]:
    """targets (L,); fitted (L,) at the points of the fit; beyond (2L,); between: s from 25 to 75 in
    eighths.
    """
    theta = frequencies(WIDTH, BASE).numpy()

    def features(s: np.ndarray) -> np.ndarray:
        angle = s[:, None] * theta
        return np.concatenate([np.sin(angle), np.cos(angle)], 1)

    inside = np.arange(LENGTH)
    targets = np.random.default_rng(seed).standard_normal(LENGTH)
    weights, *_ = np.linalg.lstsq(features(inside), targets, rcond=SINGLE)
    places = {
        "fitted": inside,
        "beyond": np.arange(2 * LENGTH),
        "between": np.arange(*DETAIL),
    }
    scores = {name: features(s) @ weights for name, s in places.items()}
    return scores | {"targets": targets}


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
    dots = (0, (1, 1.6))
    beyond.axvline(LENGTH, color="#222222", linestyle=dots, linewidth=0.9)
    s = np.arange(*DETAIL)
    scores = found["between"]
    between.plot(s, scores, color=INKS[0], linewidth=1.0)
    whole = s == s.round()
    between.plot(s[whole], scores[whole], ".", color=INKS[1], markersize=3)
    for panel in (inside, beyond, between):
        up = "a(s)" if panel is inside else ""
        panel.set(xlabel="distance s (tokens)", ylabel=up)
    return figure
