"""Retrieval accuracy over depth and length, a panel per scheme: does length fail, or distance to
the query?

A vertical border says that length itself fails, a border along a dashed curve that distance from
the query does: the record at depth d of n tokens lies (1 - d) n before the query. Depth 0, the
start, is on top as in needle-in-a-haystack heat-maps; cells are equally wide. Several seeds are
shown by their mean; hatched panels did not train.
"""

from extrap.figures.drawing.heatmap import heat_maps

NEEDS = {"task": "kv", "metric": "accuracy", "seen": "retrieval"}


def draw(rows):
    return heat_maps(rows, NEEDS, ("records", "padded"), "Retrieval accuracy over depth and length")
