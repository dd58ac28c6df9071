"""Cosine of mean query and mean key of each layer as the text grows: do their clusters stay apart?

Turned by positions; mean over heads and inputs. A model keeps the two apart, so that a token
between them can take what attention has no use for; where turns past the training length bring them
together, that sink is lost. arXiv 2603.18017.
"""

from extrap.figures.drawing.axes import length_axis, mark_training, note
from extrap.figures.drawing.diagnostics import lines, of_state
from extrap.figures.drawing.ends import label_ends, label_height, label_room
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.titles import entitle
from extrap.results.series import select, series

NEEDS = {"task": "diagnostics", "metric": "cosine"}
OF = " at several lengths"


def enough(rows) -> bool:
    """Whether there is a length to grow to."""
    return rows["length"].nunique() > 1


def draw(rows):
    rows = of_state(select(rows, **NEEDS), "trained")
    layers, found = sorted(rows["layer"].unique()), series(rows)
    room = label_room([s.label for s in found])
    height = label_height(len(found), 1.9)
    figure, axes = panels((1, len(layers)), (2.1, height), right=room, gap=0.25, top=0.7)
    train_lengths = sorted(rows["train_length"].unique())
    for panel, layer in zip(axes[0], layers, strict=True):
        ends = lines(panel, rows[rows["layer"] == layer], "length")
        length_axis(panel, rows["length"], train_lengths)
        mark_training(panel, train_lengths)
        panel.set_ylim(-1.05, 1.05)
        panel.set_title(f"layer {layer:g}", pad=16)
        panel.tick_params(labelleft=panel is axes[0, 0])
        if panel is axes[0, -1]:
            label_ends(panel, ends)
    axes[0, 0].set_ylabel("cosine")
    entitle(figure, "Mean query and mean key", f"{note(rows)} · bands: 95 % over inputs")
    return figure
