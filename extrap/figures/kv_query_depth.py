"""Retrieval accuracy by depth with the query last, first or on both sides: does it help to know the
question?

Each form has a gate of its own: a run that never saw one is grey, hollow and named "below the gate"
in its panels. Tuned models stand beside their base under a label of their own. Conventions of Lost
in the Middle (arXiv 2307.03172, figures 9 and 10).
"""

from extrap.figures.drawing.depth_panels import depth_figure

NEEDS = {"task": "kv-query", "metric": "accuracy", "seen": "retrieval"}
MAKE = " data=query"
PROTOCOLS = {"last": "query last", "both": "query first\nand last", "first": "query first"}


def draw(rows):
    return depth_figure(rows, NEEDS, PROTOCOLS, "Where the query stands")
