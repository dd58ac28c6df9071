"""How far back the answer reaches: share of the gradient of the last logit within a distance.

|d logit / d x_j| summed from the last position backwards. Where it passes .99 is the empirical
receptive field. arXiv 2212.10356.
"""

from extrap.figures.drawing import entitle, level, spread_note
from extrap.figures.drawing.diagnostics import state_panels
from extrap.results.series import select

NEEDS = {"task": "diagnostics", "metric": "gradient"}


def draw(rows):
    rows = select(rows, **NEEDS)
    away = rows.assign(at=rows["at"] + 1)
    figure, axes = state_panels(away, "distance + 1 (tokens)", "share within", 1.7)
    for panel in axes.flat:
        level(panel, 0.99, ".99")
    note = spread_note(rows, "bands: 95 % t-interval over inputs")
    title = "How far back the answer reaches"
    entitle(figure, title, f"{note} · dotted: .99 of the gradient")
    return figure
