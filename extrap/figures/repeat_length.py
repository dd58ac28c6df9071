"""Token accuracy on running text and on later copies of a text, against length: is what was read once still there?

A copy is of one training length, so that all that is asked for lies L tokens back; a run that copies nothing within L is marked. Source:
https://kexue.fm/archives/9708.
"""

from extrap.figures.axis import length_axis, mark_training, spread_note
from extrap.figures.curve import curve
from extrap.figures.layout import entitle, label_ends, label_height, label_room, panels
from extrap.series import select, series

NEEDS = {"task": "repeat", "metric": "accuracy", "protocol": "later"}
MAKE = " data=repeat"
PROTOCOLS = {"nonrepeated": "running text", "later": "later copies of a text of L tokens"}


def draw(rows):
    rows = select(rows, task="repeat", metric="accuracy")
    rows = rows[rows["protocol"].isin(PROTOCOLS)]
    found, train_lengths = series(rows), sorted(rows["train_length"].unique())
    room = label_room([f"{s.label} (to 64)" for s in found])
    figure, axes = panels((1, len(PROTOCOLS)), (2.6, label_height(len(found), 2.5)), right=room, gap=0.25, top=0.86)
    for panel, protocol in zip(axes[0], PROTOCOLS, strict=True):
        parts = [(s, s.rows[s.rows["protocol"] == protocol]) for s in found]
        ends = [curve(panel, s, part, "length", within=(0, 1)) for s, part in parts if len(part)]
        length_axis(panel, rows["length"], train_lengths)
        mark_training(panel, train_lengths)
        panel.set_ylim(-0.03, 1.05)
        panel.set_title(PROTOCOLS[protocol], pad=16)
        panel.tick_params(labelleft=panel is axes[0, 0])
        if panel is axes[0, -1]:
            label_ends(panel, ends)
    axes[0, 0].set_ylabel("token accuracy")
    entitle(figure, "Repeated and non-repeated text by length", spread_note(rows, "bands: 95 % bootstrap over documents"))
    return figure
