"""Accuracy of writing a chain of assignments out, by the depth of its value and the number of hops.

Each number of hops has a gate of its own. Beside it: trace_depth, where the value alone is the
answer. Variable tracking of RULER (arXiv 2404.06654).
"""

from extrap.figures.drawing.depth_panels import depth_figure

NEEDS = {"task": "trace-written", "metric": "accuracy"}
MAKE = " data=trace-written task=[trace-written]"
PROTOCOLS = {f"written-{n}": f"{n} hop" + "s" * (n != 1) for n in range(9)}


def draw(rows):
    return depth_figure(
        rows,
        NEEDS,
        PROTOCOLS,
        "Chains of assignments, written out",
        marks="dotted: chance; wide dots: any of the chains",
    )
