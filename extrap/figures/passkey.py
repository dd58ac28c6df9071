"""Passkeys found against their distance to the query, a panel per evaluation length: how much of a
context is used?

A passkey is one record in noise. Accuracy of each distance, pooled over four neighbouring ones;
bars are Wilson intervals of one seed and t-intervals over seeds from three on. The furthest
distance up to which a fifth are found, k_max (arXiv 2306.15595, table 4), is a column of the rows.
"""

import numpy as np

from extrap.figures.drawing import bound, log2_axis
from extrap.figures.drawing.depth_panels import depth_figure
from extrap.results.rows import comparable
from extrap.results.series import select
from extrap.results.stats.intervals import wilson

NEEDS = {
    "task": "haystack",
    "protocol": "passkey",
    "metric": "accuracy",
    "axis": "distance",
    "seen": "retrieval",
}
POOLED = 4


def draw(rows):
    rows = pooled(comparable(select(rows, **NEEDS)))
    trained = float(rows["train_length"].min())
    far = float(rows["at"].max())

    def distances(panel, named: bool) -> None:
        log2_axis(panel, [4.0**k for k in range(1, 12) if 4.0**k <= far])
        bound(panel.axvline, trained, "L")
        panel.set_xlabel("distance to the query (tokens)" if named else "")

    marks = f"{POOLED} distances each · dotted: L"
    title = "Passkey: how far back it is found"
    # what this figure has across lies in the column that others have depths in
    rows = rows.assign(depth=rows["at"], at=np.nan)
    return depth_figure(rows, NEEDS, {"passkey": "one record"}, title, marks, across=distances)


def pooled(rows):
    """Returns groups of neighbouring distances as one row each: mean accuracy at the geometric
    mean distance, with Wilson's interval of all their trials.
    """
    place = ["study", "run", "extension", "factor", "length"]
    rows = rows.sort_values([*place, "at"])
    rows["group"] = rows.groupby(place, dropna=False).cumcount() // POOLED
    rows = rows.assign(value=rows["value"] * rows["n"], at=np.log(rows["at"]))
    form = dict.fromkeys(rows, "first") | {"value": "sum", "n": "sum", "at": "mean"}
    out = rows.groupby([*place, "group"], dropna=False, as_index=False).agg(form)
    low, high = wilson(out["value"].round(), out["n"])
    at = np.exp(out["at"]).round(6)
    value = out["value"] / out["n"].astype(float)
    return out.assign(value=value, low=low, high=high, at=at)
