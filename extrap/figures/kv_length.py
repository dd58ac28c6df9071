"""Retrieval accuracy against length, the mean over depths: how long is a context that still
answers?

Conventions of arXiv 2312.00752 (induction heads, test length on a log axis). One seed has no
interval here, as trials are shared by depths; three and more have a t-interval.
"""

import numpy as np

from extrap.figures.drawing import spread_note
from extrap.figures.drawing.length_panels import length_figure
from extrap.results.cells import cells
from extrap.results.rows import comparable
from extrap.results.series import select

NEEDS = {"task": "kv", "metric": "accuracy", "seen": "retrieval"}
PROTOCOLS = {
    "records": "records: pairs grow with length",
    "padded": "padded: fixed pairs, more filler",
}


def means(rows):
    """Returns the cells of retrieval, means over depths, without intervals."""
    return cells(comparable(select(rows, **NEEDS))).assign(low=np.nan, high=np.nan)


def draw(rows):
    rows = means(rows)
    note = spread_note(rows, "no interval")
    title = "Retrieval accuracy by length"
    return length_figure(rows, PROTOCOLS, "accuracy, mean over depths", title, note)
