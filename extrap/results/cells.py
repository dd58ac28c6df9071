"""The scores of a study, one a cell, by the one rule that tables, charts and comparisons read.

A cell is one run under one extension in one task, protocol, length and metric. Where its rows say
more than one number, the first of these is its score:

1. the row of the whole text, which has neither depth nor axis;
2. the mean over depths;
3. the mean along `index`, over records that were written one after the other;
4. the one row along another axis (`symbols`, say). Several such rows are a curve and no score.

Rows of a layer and curves of training are no cells. The interval of a mean over rows is the mean of
their ends: rows of one cell share documents or trials, and are taken as fully dependent.

The cells that count are of seeds that pass the gate of their task, and of all seeds if none passes
(`counted`): a mean over both kinds would speak about neither.
"""

from collections.abc import Collection, Sequence

import pandas as pd

from extrap.results.series import CONTROLS

SCORES = ("accuracy", "recall", "nll")
"""Metrics of tables and charts. The first that a protocol has is its score."""
PLACE = ["study", "run", "extension", "factor", "task", "protocol", "length", "metric"]
"""The columns that no two cells share."""
INSIDE = ["depth", "axis", "at", "layer", "head"]
"""The columns that tell the rows of one cell apart."""
WHOLE, DEPTHS, INDEX, CURVE = range(4)
"""Kinds of rows; the least of a cell makes its score."""


def cells(rows: pd.DataFrame, metrics: Collection[str] = SCORES) -> pd.DataFrame:
    """Returns the scores of some metrics, a row a cell: the columns of rows without `INSIDE`, and
    `parts`, the number of rows that a score is the mean of. A value that no number stands for is
    left out.
    """
    rows = _making(scored(rows, metrics))
    groups = rows.groupby(PLACE, dropna=False, sort=False)
    means = {name: groups[name].transform("mean") for name in ("value", "low", "high")}
    parts = groups["value"].transform("size")
    found = rows.assign(**means, parts=parts)
    return found.drop_duplicates(PLACE).drop(columns=INSIDE)


def scored(rows: pd.DataFrame, metrics: Collection[str] = SCORES) -> pd.DataFrame:
    """Returns the rows of cells of some metrics: those at depths as well where a cell has both."""
    kept = rows["metric"].isin(metrics)
    kept &= rows["value"].notna()
    kept &= rows["layer"].isna()
    kept &= rows["task"] != "train"
    return rows[kept]


def _making(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows that scores are made of."""
    rows = leading(rows)
    groups = rows.groupby(PLACE, dropna=False)
    parts = groups["value"].transform("size")
    curve = _kind(rows) == CURVE
    return rows[~curve | (parts == 1)]


def leading(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of the first kind that each cell has."""
    kind = _kind(rows)
    if kind.nunique() < 2:
        return rows
    place = [rows[name] for name in PLACE]
    of_cells = kind.groupby(place, dropna=False)
    return rows[kind == of_cells.transform("min")]


def _kind(rows: pd.DataFrame) -> pd.Series:
    kind = pd.Series(CURVE, rows.index)
    kind = kind.mask(rows["axis"] == "index", INDEX)
    kind = kind.mask(rows["axis"] == "", WHOLE)
    return kind.mask(rows["depth"].notna(), DEPTHS)


def counted(found: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Returns the rows of one series that count, by task and protocol. `mark` holds the status of a
    row, as `series.whole` leaves it. by: columns that tell several series apart.
    """
    passed = found["mark"] == "ok"
    place = [found[name] for name in ("task", "protocol", *by)]
    some = passed.groupby(place).transform("any")
    return found[passed | ~some]


def taught(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows about what a run was trained for: a control on text alone says nothing about
    retrieval, one on retrieval nothing about text.
    """
    data = rows["data"]
    other = rows["metric"].map(lambda metric: "retrieval" if metric == "nll" else "text")
    never_seen = data.isin(CONTROLS) & (data == other)
    return rows[~never_seen]
