"""Accuracy of following a chain of assignments, by the depth of its value and the number of hops.

Each number of hops has a gate of its own. Variable tracking of RULER (arXiv 2404.06654).
"""

from extrap.figures.drawing.depth_panels import depth_figure

NEEDS = {"task": "trace", "metric": "accuracy"}
MAKE = " data=trace task=[trace]"
PROTOCOLS = {f"hops-{n}": f"{n} hop" + "s" * (n != 1) for n in range(9)}


def draw(rows):
    return depth_figure(
        rows,
        NEEDS,
        PROTOCOLS,
        "Chains of assignments",
        marks="dotted: chance; wide dots: the value of any chain",
    )
