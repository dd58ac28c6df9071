"""ALiBi's bias, a panel per head: -slope times the distance, nothing for keys that come after the
query.

arXiv 2108.12409, figure 3. Every second head of eight, whose slopes are 1/2, 1/4, .. 1/256.
"""

import numpy as np
import torch

from extrap.figures.drawing.dimensions import COLOUR_BAR
from extrap.model.scheme import Shape
from extrap.schemes.alibi import ALiBi
from extrap.studies.analytic.figures.panel import framed

NEEDS: dict = {}

TOKENS = 16
HEADS = 8
SHOWN = (0, 2, 4, 6)


def data() -> np.ndarray:
    """(heads, queries, keys), nan above the diagonal."""
    place = torch.arange(TOKENS, dtype=torch.float64)
    back = place[:, None] - place
    scheme = ALiBi(Shape(dim=HEADS, heads=HEADS))
    bias = scheme.distance_bias(back.clamp(min=0), 0)
    return bias.masked_fill(back < 0, torch.nan).numpy()


def draw():
    bias = data()
    slopes = -bias[:, 1, 0]
    note = (
        "bias added to the logit after 1 / sqrt(D); blank: keys after the query; one colour scale"
    )
    titles = [f"head {head + 1}: slope 1/{1 / slopes[head]:g}" for head in SHOWN]
    figure, axes = framed(
        titles,
        "ALiBi: a penalty that grows with distance, at a pace per head",
        note,
        size=(1.5, 1.5),
        right=1.0,
    )
    least = np.nanmin(bias)
    for panel, head in zip(axes, SHOWN, strict=True):
        shown = panel.imshow(bias[head], cmap="viridis", vmin=least, vmax=0)
        panel.grid(visible=False)
        panel.set(
            xlabel="key",
            ylabel="query" if panel is axes[0] else "",
            xticks=(0, 5, 10, 15),
            yticks=(0, 5, 10, 15),
        )
    box = axes[-1].get_position()
    inch = 1 / figure.get_size_inches()[0]
    left = box.x1 + 0.2 * inch
    width = 0.1 * inch
    bar = figure.add_axes((left, box.y0, width, box.height), label=COLOUR_BAR)
    figure.colorbar(shown, cax=bar, label="bias")
    return figure
