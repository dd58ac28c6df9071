"""The statistic of a statement, one number per seed with the half-width of its 95 % interval over
documents or trials.

A term is the mean of the rows that it selects: over the values that it lists (each counts alike),
then over what it leaves open. With weights w and terms m:

sum                 sum of w m
least, greatest     of several such sums
spread              greatest less least of the values of `over`; lowest, highest: one of the two
rank                of the value `of` among those of `over`, 1 is the lowest number
rank_correlation    Spearman's, over the values of `over`, of two terms

Half-widths of a term are averaged, as depths share their trials; those of several terms add in
squares. Ranks have none.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from extrap.results.findings.statement import SUM, Selection, Statement, Term
from extrap.results.stats.ranks import spearman

SIZES = ((0, "small"), (600_000, "middle"), (2_000_000, "large"))
"""Least number of parameters of each word that `params` takes."""


class NotMeasured(Exception):
    """Rows that a statement reads are not there; says which."""


class Read(NamedTuple):
    """value, half: by seed; runs: how many were read; below: how many of them below the gate."""

    value: pd.Series
    half: pd.Series
    runs: int
    below: int


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

    Raises NotMeasured where no seed has all that is read, and where two runs of one seed answer to
    a selection.
    """
    parts = [[_term(statement, term, rows) for term in terms] for terms in statement.contrasts]
    if statement.statistic == "rank_correlation":
        value, half = _correlation(*(part for part, _ in parts[0]))
    else:
        sums = [
            _sum([(part, term.times) for (part, _), term in zip(found, terms, strict=True)])
            for found, terms in zip(parts, statement.contrasts, strict=True)
        ]
        value, half = _combined(statement, sums)
    if value.empty:
        raise NotMeasured("no seed has all that is compared")
    status = pd.concat([status for found in parts for _, status in found])
    runs = status.groupby(level=0).agg(lambda marks: (marks != "ok").any())
    return Read(value, half, len(runs), int(runs.sum()))


def _term(statement: Statement, term: Term, rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """(value and half by seed and value of `over`, status by run) of the rows of a term."""
    selection = statement.rows | term.rows
    found = rows[_mask(rows, selection)]
    if found.empty:
        raise NotMeasured(f"no rows of {_words(selection)}")
    listed = [
        name for name, value in selection.items() if isinstance(value, list) and name != "factor"
    ]
    by = ["seed", *([statement.over] if statement.over else [])]
    by += [name for name in listed if name not in by]
    if (several := found.groupby(by)["run"].nunique()).gt(1).any():
        place = several[several > 1].index[0]
        names = sorted(found.set_index(by).sort_index().loc[[place], "run"].unique())
        raise NotMeasured(f"several runs answer to one selection: {', '.join(names)}")
    half = (found["high"] - found["low"]) / 2
    cells = found.assign(half=half).groupby(by)[["value", "half"]]
    table = cells.agg(lambda numbers: numbers.mean(skipna=False))
    wanted = {name: set(selection[name]) for name in listed}
    kept = table.groupby(level="seed").filter(
        lambda part: all(
            values <= set(part.index.get_level_values(name)) for name, values in wanted.items()
        )
    )
    if kept.empty:
        raise NotMeasured(f"not all of {_words({name: selection[name] for name in listed})}")
    by_place = by[: 2 if statement.over else 1]
    means = kept.groupby(level=by_place).agg(lambda numbers: numbers.mean(skipna=False))
    return means, found.groupby("run")["status"].agg(
        lambda marks: next((m for m in marks if m != "ok"), "ok")
    )


def _mask(rows: pd.DataFrame, selection: Selection) -> pd.Series:
    keep = pd.Series(True, index=rows.index)
    for name, value in selection.items():
        values = value if isinstance(value, list) else [value]
        keep &= rows[name].isin(values).fillna(False).astype(bool)
    return keep


def _sum(parts: list[tuple[pd.DataFrame, float]]) -> pd.DataFrame:
    total = sum(part["value"] * times for part, times in parts)
    squares = sum((part["half"] * times) ** 2 for part, times in parts)
    common = parts[0][0].index
    for part, _ in parts[1:]:
        common = common.intersection(part.index)
    return pd.DataFrame({"value": total, "half": np.sqrt(squares)}).loc[common]


def _combined(statement: Statement, sums: list[pd.DataFrame]) -> tuple[pd.Series, pd.Series]:
    if statement.statistic == SUM:
        return sums[0]["value"], sums[0]["half"]
    if statement.over is None:
        table = pd.concat(dict(enumerate(sums)), names=["contrast"])
        inner = "contrast"
    else:
        table, inner = sums[0], statement.over
    values = table["value"].unstack(inner)
    halves = table["half"].unstack(inner)
    complete = values.notna() if statement.over is None else None
    if complete is not None:
        values, halves = values[complete.all(axis=1)], halves[complete.all(axis=1)]
    low, high = _picked(values, halves, "idxmin"), _picked(values, halves, "idxmax")
    if statement.statistic == "rank":
        if statement.of not in values:
            raise NotMeasured(f"no rows of {statement.over}={statement.of}")
        ranks = values.rank(axis=1)[statement.of]
        return ranks, ranks * np.nan
    if statement.statistic == "spread":
        return high[0] - low[0], np.sqrt(high[1] ** 2 + low[1] ** 2)
    return low if statement.statistic in ("least", "lowest") else high


def _picked(values: pd.DataFrame, halves: pd.DataFrame, which: str) -> tuple[pd.Series, pd.Series]:
    """The least or greatest of each row, and its half-width; nan where one of them is nan."""
    whole = values.notna().all(axis=1)
    names = getattr(values[whole], which)(axis=1)
    picked = [(values.at[seed, name], halves.at[seed, name]) for seed, name in names.items()]
    found = pd.DataFrame(picked, index=names.index, columns=["value", "half"], dtype=float)
    found = found.reindex(values.index)
    return found["value"], found["half"]


def _correlation(a: pd.DataFrame, b: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    out = {}
    for seed in sorted({*a.index.get_level_values(0)} & {*b.index.get_level_values(0)}):
        out[seed] = spearman(a.loc[seed, "value"], b.loc[seed, "value"])
    value = pd.Series(out, dtype=float)
    return value, value * np.nan


def _words(selection: Selection) -> str:
    return ", ".join(
        f"{name}={'/'.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in selection.items()
    )
