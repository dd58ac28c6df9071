"""Retrieval accuracy against length, the mean over depths: how long is a context that still
answers?

Conventions of arXiv 2312.00752 (induction heads, test length on a log axis). One seed has no
interval here, as trials are shared by depths; three and more have a t-interval.
"""

import numpy as np

from extrap.figures.drawing import spread_note
from extrap.figures.drawing.length_panels import length_figure
from extrap.results.rows import comparable
from extrap.results.series import select

NEEDS = {"task": "kv", "metric": "accuracy", "seen": "retrieval"}
PROTOCOLS = {
    "records": "records: pairs grow with length",
    "padded": "padded: fixed pairs, more filler",
}


def means(rows):
    """Returns means over depths, a row per run, extension, protocol and length, no intervals."""
    rows = comparable(select(rows, **NEEDS)).dropna(subset="depth")
    key = ["run", "extension", "factor", "protocol", "length"]
    values = rows.groupby(key, dropna=False)["value"].transform("mean")
    return rows.assign(value=values, low=np.nan, high=np.nan).drop_duplicates(key)


def draw(rows):
    rows = means(rows)
    note = spread_note(rows, "no interval")
    title = "Retrieval accuracy by length"
    return length_figure(rows, PROTOCOLS, "accuracy, mean over depths", title, note)
