"""Accuracy by the rank of the record asked for among several with one key, counted from the start
and from the end.

The contexts of the two rows of panels are the same; only the mark of the question differs. Who
finds the key and not the order has the guess, 1 / copies. MRCR (arXiv 2409.12640) in miniature.
"""

from extrap.figures.drawing.depth_panels import depth_figure

NEEDS = {"task": "nth", "metric": "accuracy"}
MAKE = " data=nth task=[nth]"
PROTOCOLS = {"start": "n-th from\nthe start", "end": "n-th from\nthe end"}


def draw(rows):
    return depth_figure(
        rows,
        NEEDS,
        PROTOCOLS,
        "The n-th record of a key",
        marks="dotted: chance; wide dots: any value of the key",
    )
