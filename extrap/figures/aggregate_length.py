"""Accuracy of questions about all of a context, by its length: which label stands most often, and
how often.

Each kind of question has a gate of its own. Aggregation of RULER (arXiv 2404.06654) and OOLONG
(arXiv 2511.02817) in miniature.
"""

from extrap.figures.drawing.length_panels import length_figure
from extrap.results.rows import comparable
from extrap.results.series import select

NEEDS = {"task": "aggregate", "metric": "accuracy"}
MAKE = " data=aggregate task=[aggregate]"
PROTOCOLS = {
    "majority": "most frequent label",
    "first-half": "of the first half",
    "count": "count of a label",
}


def draw(rows):
    return length_figure(
        comparable(select(rows, **NEEDS)),
        PROTOCOLS,
        "accuracy",
        "Questions about all of a context",
        "Wilson, 95 %",
        select(rows, **NEEDS | {"metric": "chance"}),
    )
