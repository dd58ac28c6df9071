"""Accuracy by place of the record asked for, in the format of the paper, by number of records: lost
in the middle?

Rows: the question last, first as well (query-aware contextualisation), or first alone. Conventions
of Lost in the Middle (arXiv 2307.03172, figures 7 and 9), whose files the task reads; their score
is `substring`, drawn is `accuracy`, which a model with a quotation mark less can have.
"""

from extrap.figures.drawing.depth_panels import depth_figure

NEEDS = {"task": "lost-in-the-middle", "metric": "accuracy"}
PROTOCOLS = {"last": "query last", "both": "query first\nand last", "first": "query first"}
MARKS = "wide dots: a record at random"
OF = " of at least two records"


def enough(rows) -> bool:
    """With one record there is no place to move it to."""
    return bool((rows["at"] > 1).any())


def draw(rows):
    rows = rows[(rows["task"] != NEEDS["task"]) | (rows["at"] != 1)]
    return depth_figure(
        rows, NEEDS, PROTOCOLS, "Lost in the middle", MARKS, items="records", counted=True
    )
