"""The statistic of a statement, one number per seed with how far its 95 % interval over documents
or trials lies below and above it.

A term is the mean of the rows that it selects: over the values that it lists (each counts alike),
then over what it leaves open. With weights w and terms m:

sum                 sum of w m
least, greatest     of several such sums
spread              greatest less least of the values of `over`; lowest, highest: one of the two
rank                of the value `of` among those of `over`, 1 is the lowest number
rank_correlation    Spearman's, over the values of `over`, of two terms

Distances of a term are averaged, as depths share their trials; those of several terms add in
squares, a term of negative weight with its two sides exchanged. Ranks have none.
"""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from extrap.results.findings.statement import SUM, Selection, Statement, Term
from extrap.results.series import settings
from extrap.results.stats.ranks import permutation_p, spearman

COLUMNS = ["value", "down", "up"]

SIZES = ((0, "small"), (600_000, "middle"), (2_000_000, "large"))
"""Least number of parameters of each word that `params` takes."""


class NotMeasured(Exception):
    """Rows that a statement reads are not there; says which."""


class Read(NamedTuple):
    """value: by seed, down and up: to the ends of its interval; runs: how many were read; below:
    how many of them below the gate; p: of a rank correlation, by `ranks.permutation_p`.
    """

    value: pd.Series
    down: pd.Series
    up: pd.Series
    runs: int
    below: int
    p: float = 0.0


def prepared(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with the columns that selections have beside those of rows."""
    out = rows[rows["task"] != "train"].copy()
    out["multiple"] = (out["length"] / out["train_length"]).astype(float)
    out["factor"] = out["factor"].fillna(1.0)
    out["size"] = out["params"]
    bounds, words = zip(*SIZES, strict=True)
    out["params"] = pd.cut(
        out["params"].fillna(0).astype(float), [*bounds, np.inf], labels=list(words), right=False
    ).astype(str)
    return out


def measured(statement: Statement, rows: pd.DataFrame) -> Read:
    """The statistic of a statement over `prepared` rows.

    Raises NotMeasured where no seed has all that is read, and where runs of several settings answer
    to a selection.
    """
    p = 0.0
    parts = [[_term(statement, term, rows) for term in terms] for terms in statement.contrasts]
    if statement.statistic == "rank_correlation":
        found, p = _correlation(*(part["value"].unstack() for part, _ in parts[0]))
    else:
        sums = [
            _sum([(part, term.times) for (part, _), term in zip(one, terms, strict=True)])
            for one, terms in zip(parts, statement.contrasts, strict=True)
        ]
        found = _combined(statement, sums)
    if found.empty:
        raise NotMeasured("no seed has all that is compared")
    status = pd.concat([status for one in parts for _, status in one])
    runs = status.groupby(level=0).agg(lambda marks: (marks != "ok").any())
    return Read(*(found[name] for name in COLUMNS), len(runs), int(runs.sum()), p)


def _term(statement: Statement, term: Term, rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """(COLUMNS by seed and value of `over`, status by run) of the rows of a term."""
    selection = statement.rows | term.rows
    found = rows[_mask(rows, selection)]
    if found.empty:
        raise NotMeasured(f"no rows of {_words(selection)}")
    listed = [
        name for name, value in selection.items() if isinstance(value, list) and name != "factor"
    ]
    by = ["seed", *([statement.over] if statement.over else [])]
    by += [name for name in listed if name not in by]
    place = [pd.Series(0, found.index), *(found[name] for name in by[1:])]  # whatever the seed
    if (several := settings(found).groupby(place).transform("nunique").gt(1)).any():
        names = sorted(found.loc[several, "run"].unique())
        raise NotMeasured(f"several runs answer to one selection: {', '.join(names)}")
    ends = {"down": found["value"] - found["low"], "up": found["high"] - found["value"]}
    table = _means(found.assign(**ends), by)
    wanted = {name: set(selection[name]) for name in listed}
    kept = table.groupby(level="seed").filter(lambda part: _whole(part, statement.over, wanted))
    if kept.empty:
        raise NotMeasured(f"not all of {_words({name: selection[name] for name in listed})}")
    by_place = by[: 2 if statement.over else 1]
    return _means(kept, by_place), found.groupby("run")["status"].agg(
        lambda marks: next((m for m in marks if m != "ok"), "ok")
    )


def _whole(part: pd.DataFrame, over: str | None, wanted: dict[str, set]) -> bool:
    """Whether a seed has every combination of the values wanted, with each value of `over`."""
    within = math.prod(len(values) for name, values in wanted.items() if name != over)
    each = part.groupby(level=over).size() if over else pd.Series([len(part)])
    found = set(each.index) >= wanted.get(over, set()) if over else True
    return found and bool(each.eq(within).all())


def _means(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """COLUMNS by place; nan where one of a place is."""
    return rows.groupby(by)[COLUMNS].agg(lambda numbers: numbers.mean(skipna=False))


def _mask(rows: pd.DataFrame, selection: Selection) -> pd.Series:
    keep = pd.Series(True, index=rows.index)
    for name, value in selection.items():
        values = value if isinstance(value, list) else [value]
        keep &= rows[name].isin(values).fillna(False).astype(bool)
    return keep


def _sum(parts: list[tuple[pd.DataFrame, float]]) -> pd.DataFrame:
    common = parts[0][0].index
    for part, _ in parts[1:]:
        common = common.intersection(part.index)
    value, down, up = 0.0, 0.0, 0.0
    for part, times in parts:
        below, above = ("down", "up") if times > 0 else ("up", "down")
        value = value + part["value"] * times
        down = down + (part[below] * times) ** 2
        up = up + (part[above] * times) ** 2
    return pd.DataFrame({"value": value, "down": np.sqrt(down), "up": np.sqrt(up)}).loc[common]


def _combined(statement: Statement, sums: list[pd.DataFrame]) -> pd.DataFrame:
    """COLUMNS by seed."""
    if statement.statistic == SUM:
        return sums[0]
    if statement.over is None:
        table = pd.concat(dict(enumerate(sums)), names=["contrast"]).unstack("contrast")
        table = table[table["value"].notna().all(axis=1)]
    else:
        table = sums[0].unstack(statement.over)
    if statement.statistic == "rank":
        if statement.of not in table["value"]:
            raise NotMeasured(f"no rows of {statement.over}={statement.of}")
        values = table["value"]
        whole = values[values.notna().all(axis=1)]  # a rank among fewer is another number
        return _exact(whole.rank(axis=1)[statement.of].reindex(values.index))
    low, high = _picked(table, "idxmin"), _picked(table, "idxmax")
    if statement.statistic == "spread":
        return _sum([(high, 1), (low, -1)])
    return low if statement.statistic in ("least", "lowest") else high


def _picked(table: pd.DataFrame, which: str) -> pd.DataFrame:
    """The least or greatest of each row; nan where one of them is nan."""
    values = table["value"]
    names = getattr(values[values.notna().all(axis=1)], which)(axis=1)
    picked = [
        [table.at[seed, (column, name)] for column in COLUMNS] for seed, name in names.items()
    ]
    found = pd.DataFrame(picked, index=names.index, columns=COLUMNS, dtype=float)
    return found.reindex(values.index)


def _exact(value: pd.Series) -> pd.DataFrame:
    """Numbers that have no interval."""
    return pd.DataFrame({"value": value, "down": np.nan, "up": np.nan})


def _correlation(a: pd.DataFrame, b: pd.DataFrame) -> tuple[pd.DataFrame, float]:
    """(COLUMNS by seed, p) of the orders of two tables (seeds, items)."""
    a, b = a.align(b, join="inner")
    out = {seed: spearman(a.loc[seed], b.loc[seed]) for seed in a.index}
    if pd.Series(out, dtype=float).isna().any():
        return _exact(pd.Series(out, dtype=float)), 1.0
    return _exact(pd.Series(out, dtype=float)), permutation_p(a, b)


def _words(selection: Selection) -> str:
    return ", ".join(
        f"{name}={'/'.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in selection.items()
    )
