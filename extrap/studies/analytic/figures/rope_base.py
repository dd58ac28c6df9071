"""How far a base lets RoPE tell alike from different: B(n) = sum_p cos(n theta_p), whose first zero
bounds the length it serves.

arXiv 2405.14591 and kexue.fm/archives/10122. NTK: the base times s^(d/(d-2)), here for s = 8. B is
not monotone in the base: scan.
"""

import numpy as np
import torch

from extrap.figures.drawing import INKS
from extrap.model.functional import frequencies
from extrap.studies.analytic.figures.panel import decades, framed, named

NEEDS: dict = {}

WIDTH = 128
FACTOR = 8
NTK_BASE = 1e4 * FACTOR ** (WIDTH / (WIDTH - 2))
BASES = {
    "base 500": 500.0,
    "base 1e4": 1e4,
    f"base 1e4, NTK s = {FACTOR}": NTK_BASE,
    "base 1e6": 1e6,
}
FARTHEST = 2**17


def data(width: int, base: float, distances: np.ndarray) -> np.ndarray:
    """(distances,) B at each of these distances."""
    theta = frequencies(width, base)
    every = torch.from_numpy(np.asarray(distances, float))
    sums = []
    for part in every.split(4096):
        angle = part[:, None] * theta
        sums.append(torch.cos(angle).sum(-1))
    return torch.cat(sums).numpy()


def first_negative(width: int, base: float, farthest: int = FARTHEST) -> int | None:
    """The least whole distance at which B < 0."""
    sums = data(width, base, np.arange(farthest))
    below = sums < 0
    return int(below.argmax()) if below.any() else None


def draw():
    note = f"d = {WIDTH}; circles and numbers: the first distance at which B is negative"
    title = "RoPE: the base bounds the length"
    figure, (panel,) = framed([f"d = {WIDTH}"], title, note, size=(4.6, 2.6))
    evenly = np.geomspace(1, FARTHEST, 3000)
    distances = np.unique(evenly.round())
    for (name, base), ink in zip(BASES.items(), INKS, strict=False):
        sums = data(WIDTH, base, distances)
        panel.plot(distances, sums, color=ink, linewidth=0.5, label=name)
        first = first_negative(WIDTH, base)
        if first is not None:
            panel.plot([first], [0], "o", color=ink, markersize=4, zorder=5)
            panel.plot([first, first], [0, -19], color=ink, linewidth=0.6, zorder=5)
            panel.annotate(
                f"{first:,}",
                (first, -19),
                (0, -7),
                textcoords="offset points",
                fontsize=6.5,
                color=ink,
                ha="center",
            )
    panel.axhline(0, color="#222222", linewidth=0.6)
    panel.set_xscale("log")
    decades(panel.xaxis)
    panel.set(xlabel="distance (tokens)", ylabel="sum of cos(n theta_p)", ylim=(-26, 68))
    named(panel, loc="upper right")
    return figure
