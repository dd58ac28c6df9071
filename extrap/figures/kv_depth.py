"""Retrieval accuracy against the depth of the asked record, a panel per length: what is lost, and
where.

Records: the number of key-value pairs grows with the length; padded: it is fixed and filler grows.
Runs that miss the gate at the training length are grey, hollow and named "below the gate": a
circuit that never formed is no sign of a lost middle. Dotted lines: the accuracy of guessing among
all values, and among those of the context. Conventions of Lost in the Middle (arXiv 2307.03172,
figures 5 and 7).
"""

from extrap.figures.drawing.depth_panels import depth_figure

NEEDS = {"task": "kv", "metric": "accuracy", "seen": "retrieval"}
PROTOCOLS = {
    "records": "records: pairs\ngrow with length",
    "padded": "padded: fixed\npairs, more filler",
}


def draw(rows):
    return depth_figure(rows, NEEDS, PROTOCOLS, "Retrieval accuracy by depth")
