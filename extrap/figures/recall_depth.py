"""Recall of the items of a list by their place in it: free recall and running span.

A demand for the end makes recency, a uniform one primacy (arXiv 2510.10276).
"""

from extrap.figures.drawing.depth_panels import depth_figure

NEEDS = {"task": "recall", "metric": "recall"}
MAKE = " data=recall task=[recall]"
PROTOCOLS = {"recall": "all items", "span": "last items"}


def draw(rows):
    return depth_figure(
        rows,
        NEEDS,
        PROTOCOLS,
        "Recall of a list",
        marks="dotted: chance; wide dots: any items of the list, which is all that recall wants",
    )
