"""Needles in text over depth and length, a panel per scheme: one needle, and one among needles of
other keys.

Depth is a share of the context, 0 at its start and on top; the record at depth d of n tokens lies
(1 - d) n before the query. Conventions of needle-in-a-haystack heat-maps, with colours that the
colour-blind can tell apart.
"""

from extrap.figures.drawing.heatmap import heat_maps

NEEDS = {"task": "haystack", "metric": "accuracy", "seen": "retrieval"}


def draw(rows):
    return heat_maps(rows, NEEDS, ("single", "multikey"), "Needles in a haystack")
