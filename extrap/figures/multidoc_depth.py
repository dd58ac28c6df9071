"""Accuracy against the place of the document that holds the answer, a panel per number of them:
lost in the middle?

Dashed: the gold document alone (oracle), dash-dotted: no document (closed book), both of each
trained series. A curve that falls to its closed-book line has lost the document, one below it is
misled by the others. Conventions of Lost in the Middle (arXiv 2307.03172, figures 1, 5 and 7).
"""

from extrap.figures.drawing import style_of
from extrap.figures.drawing.depth_panels import MARKS, depth_figure

NEEDS = {"task": "multidoc", "metric": "accuracy", "seen": "retrieval"}
MAKE = " data=suite"
PROTOCOLS = {"ordered": "hard distractors\nfirst", "shuffled": "distractors\nin no order"}
LINES = {"oracle": (0, (4, 2)), "closed_book": (0, (4, 1.5, 1, 1.5))}


def draw(rows):
    marks = f"dashed: gold document alone, dash-dotted: none · {MARKS}"
    title = "Question answering by place of the document"
    return depth_figure(rows, NEEDS, PROTOCOLS, title, marks, _references, "K")


def _references(panel, s) -> None:
    for protocol, line in LINES.items() if s.ok else ():
        found = s.rows.loc[s.rows["protocol"] == protocol, "value"]
        if len(found):
            stroke = {"color": style_of(s).colour, "linestyle": line, "linewidth": 0.8}
            panel.axhline(found.mean(), alpha=0.8, label=f"{s.label}, {protocol}", **stroke)
