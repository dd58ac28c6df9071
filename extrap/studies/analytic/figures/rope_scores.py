"""Scores of RoPE against distance: they fall for equal queries and keys, and do not for Gaussian
ones.

The decay that is claimed for RoPE holds for q = k = (1, .., 1), where the score is 2 sum_p cos(n
theta_p); for independent q, k from N(0, 1) its spread is sqrt(d) at every distance. arXiv
2410.06205, figure 2.
"""

import numpy as np
import torch

from extrap.figures.drawing import INKS
from extrap.model.functional import frequencies
from extrap.model.rotary import phase, turn
from extrap.studies.analytic.figures.panel import framed

NEEDS: dict = {}

WIDTH = 128
BASE = 1e4
DISTANCES = 1025
DRAWS = 200


def data(
    width: int = WIDTH, base: float = BASE, distances: int = DISTANCES, draws: int = DRAWS
) -> dict[str, np.ndarray]:
    """ones (distances,): of q = k = 1; gaussian (draws, distances): of q, k ~ N(0, 1). <R_n q, k>,
    not divided by sqrt(d).
    """
    distance = torch.arange(distances, dtype=torch.float64)
    angle = distance[:, None] * frequencies(width, base)
    turns = phase(angle, torch.float64)
    rng = torch.Generator().manual_seed(0)
    drawn = torch.randn(2, draws, width, generator=rng, dtype=torch.float64)

    def scores(q: torch.Tensor, k: torch.Tensor) -> np.ndarray:
        everywhere = q[:, None].expand(-1, distances, -1)
        turned = turn(everywhere, turns, "interleaved")
        products = turned @ k[..., None]
        return products[..., 0].numpy()

    one = torch.ones(1, width, dtype=torch.float64)
    return {"ones": scores(one, one)[0], "gaussian": scores(*drawn)}


def draw():
    found = data()
    note = (
        f"d = {WIDTH}, base {BASE:g}; right: {DRAWS} draws, thin lines three of them, bold their "
        "standard deviation, dotted sqrt(d)"
    )
    titles = ["q = k = (1, .., 1)", "q, k from N(0, 1)"]
    figure, (equal, drawn) = framed(titles, "RoPE: does a score fall with distance?", note)
    equal.plot(found["ones"], color=INKS[0], linewidth=1.2)
    equal.axhline(0, color="#222222", linewidth=0.6)
    gaussian = found["gaussian"]
    for line in gaussian[:3]:
        drawn.plot(line, color=INKS[5], linewidth=0.4, alpha=0.7)
    drawn.plot(gaussian.std(0), color=INKS[1], linewidth=1.6)
    dots = (0, (1, 1.6))
    drawn.axhline(WIDTH**0.5, color="#222222", linestyle=dots, linewidth=0.9)
    for panel in (equal, drawn):
        panel.set(xlabel="distance (tokens)", ylabel="<q, k> after turning")
    return figure
