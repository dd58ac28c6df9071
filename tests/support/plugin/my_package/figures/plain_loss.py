"""Loss in one window against its length."""

from extrap.figures.drawing import curve, entitle, label_ends, length_axis, note, panels
from extrap.results.series import select, series

NEEDS = {"task": "nll", "metric": "nll", "protocol": "last_segment", "seen": "text"}


def draw(rows):
    rows = select(rows, **NEEDS)
    found = series(rows)
    figure, ((panel,),) = panels((1, 1), (3.6, 2.5), labels=[s.label for s in found], top=0.86)
    ends = [curve(panel, s, s.rows, "length") for s in found]
    length_axis(panel, rows["length"], sorted(rows["train_length"].unique()))
    panel.set(xlabel="length (tokens)", ylabel="nats per token")
    label_ends(panel, ends)
    entitle(figure, "Loss in one window", note(rows))
    return figure
