"""Loss in one window against its length."""

from extrap.figures.drawing.axes import length_axis, note
from extrap.figures.drawing.ends import label_ends, label_room
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.lines import curve
from extrap.figures.drawing.titles import entitle
from extrap.results.series import select, series

NEEDS = {"task": "nll", "metric": "nll", "protocol": "last_segment", "seen": "text"}


def draw(rows):
    rows = select(rows, **NEEDS)
    found = series(rows)
    room = label_room([s.label for s in found])
    figure, ((panel,),) = panels((1, 1), (3.6, 2.5), right=room, gap=0, top=0.86)
    ends = [curve(panel, s, s.rows, "length") for s in found]
    length_axis(panel, rows["length"], sorted(rows["train_length"].unique()))
    panel.set(xlabel="length (tokens)", ylabel="nats per token")
    label_ends(panel, ends)
    entitle(figure, "Loss in one window", note(rows))
    return figure
