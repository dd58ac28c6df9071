"""Cosine of mean query and mean key of each layer as the text grows: do their clusters stay apart?

Turned by positions; mean over heads and inputs. A model keeps the two apart, so that a token
between them can take what attention has no use for; where turns past the training length bring them
together, that sink is lost. arXiv 2603.18017.
"""

from extrap.figures.drawing import spread_note
from extrap.figures.drawing.diagnostics import of_state
from extrap.figures.drawing.length_panels import length_figure
from extrap.results.series import select

NEEDS = {"task": "diagnostics", "metric": "cosine"}
OF = " at several lengths"


def enough(rows) -> bool:
    return rows["length"].nunique() > 1


def draw(rows):
    rows = of_state(select(rows, **NEEDS), "trained")
    layers = [f"layer {layer:g}" for layer in rows["layer"]]
    titles = {name: name for name in sorted(set(layers), key=lambda name: int(name[6:]))}
    words = spread_note(rows, "bands: 95 % over inputs")
    return length_figure(
        rows.assign(protocol=layers), titles, "cosine", "Mean query and mean key", words,
        size=(2.1, 1.9), limits=(-1.05, 1.05),
    )  # fmt: skip
