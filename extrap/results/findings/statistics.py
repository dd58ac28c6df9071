"""The statistic of a statement, one number per seed with how far its 95 % interval over documents
or trials lies below and above it.

A term is the mean of the rows that it selects: over the values that it lists (each counts alike),
then over what it leaves open; where a cell has rows of a whole text and of its depths, and the term
names neither, of the whole alone (results.cells). With weights w and terms m:

sum                 sum of w m
least, greatest     of several such sums
spread              greatest less least of the values of `over`; lowest, highest: one of the two
rank                of the value `of` among the values of `over`, 1 is the lowest number
rank_correlation    Spearman's, over the values of `over`, of two terms
concordance         Kendall's W: how far the units agree on the order of the values of `over`
concordance_of_values   the same number, its interval over the values of `over`
share               the share of the variance between all readings that `over` explains: the sum of
                    squares between its values over the total one

A statement with a `unit` has one number per unit where the others have one per seed; concordance
and share are one number of all units, with a jackknife as their interval: over units, if not over
the values.

With `across: deviation` the reading of a seed in a term is its distance from the median of the
seeds: the readings of Brown and Forsythe's test of equal variances.

The half-widths of a term's intervals are averaged, as depths share their trials; half-widths of
several terms add in squares, with the two sides of a negative term exchanged. Ranks have none.
"""

import math
from collections.abc import Sequence
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from extrap.results.cells import leading
from extrap.results.findings.statement import (
    DEVIATION,
    OF_UNITS,
    RECIPE,
    SUM,
    Selection,
    Statement,
    Term,
)
from extrap.results.series import settings
from extrap.results.stats.intervals import student
from extrap.results.stats.ranks import TIED, concordance, permutation_p, spearman
from extrap.results.tuned import is_own

COLUMNS = ["value", "down", "up"]
NUMBER = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"
"""What follows the name of an option in a label."""
SIZES = {"small": 0, "middle": 600_000, "large": 2_000_000}
"""Least number of parameters of each word that `params` takes."""


class NotMeasured(Exception):
    """Rows that a statement reads are not there; says which."""


class Read(NamedTuple):
    """The statistic of a statement as the rows give it.

    Args:
        value: by seed, down and up: to the ends of its interval
        runs: how many were read
        below: how many of them below the gate
        p: of a rank correlation, by `ranks.permutation_p`
        items: how many values a rank correlation orders, else 0
    """

    value: pd.Series
    down: pd.Series
    up: pd.Series
    runs: int
    below: int
    p: float
    items: int = 0


def prepared(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns rows with the further columns that selections have."""
    out = rows.copy()
    out["factor"] = out["factor"].fillna(1.0)
    out["size"] = out["params"]
    numbers = out["params"].fillna(0).astype(float)
    bounds = [*SIZES.values(), np.inf]
    named = pd.cut(numbers, bounds, labels=[*SIZES], right=False)
    out["params"] = named.astype(str)
    out = recipes(out)
    return out.assign(tuned=is_own(out))


def recipes(rows: pd.DataFrame, names: Sequence[str] = RECIPE) -> pd.DataFrame:
    """Returns rows with the options of `names` that labels name as columns, nan if a label names
    none, and with the rest of the label as `scheme`: `rope_steps375` becomes rope and 375.
    """
    label = rows["scheme"]
    each = label.drop_duplicates()  # of a hundred thousand rows, a few
    known = pd.DataFrame(index=each)
    for name in names:
        number = each.str.extract(rf"_{name}({NUMBER})(?=_|$)", expand=False)
        known[name] = number.to_numpy(float)
    named = rf"_(?:{'|'.join(names)}){NUMBER}(?=_|$)"
    scheme = each.str.replace(named, "", regex=True)
    known["scheme"] = scheme.to_numpy()
    of_rows = known.reindex(label)
    columns = {name: of_rows[name].to_numpy() for name in (*names, "scheme")}
    return rows.assign(**columns)


def selected(rows: pd.DataFrame, selection: Selection) -> pd.DataFrame:
    """Returns the rows whose columns have the values of a selection. A list holds alternatives."""
    keep = pd.Series(True, index=rows.index)
    for name, value in selection.items():
        values = value if isinstance(value, list) else [value]
        keep &= rows[name].isin(values).fillna(False)
    return rows[keep.astype(bool)]


def measured(statement: Statement, rows: pd.DataFrame) -> Read:
    """Returns the statistic of a statement over `prepared` rows.

    Raises NotMeasured if no seed has all that is read, and if runs of several settings answer to a
    selection.
    """
    replicate = rows["seed"]
    if statement.unit:
        units = rows.groupby([*statement.unit], dropna=False).ngroup()
        replicate = units.map("unit {}".format)
    rows = rows.assign(replicate=replicate)
    values = []
    weights = []
    states = []
    for terms in statement.contrasts:
        parts = []
        for term in terms:
            part, status = _term(statement, term, rows)
            states.append(status)
            parts.append(_deviations(part) if statement.across == DEVIATION else part)
        values.append(parts)
        weights.append([term.times for term in terms])
    p = 0.0
    items = 0
    if statement.statistic == "rank_correlation":
        found, p, items = _correlated(*values[0])
    else:
        weighted = zip(values, weights, strict=True)
        sums = [_sum(parts, times) for parts, times in weighted]
        found = _combined(statement, sums)
    if found.empty:
        raise NotMeasured("no seed has all that is compared")
    read = pd.concat(states)
    if statement.statistic not in OF_UNITS:  # of the seeds that have all that is compared
        read = read[read["replicate"].isin(found.index)]
    failed = read["status"].ne("ok")
    below = failed.groupby(read["run"]).any()
    value, down, up = (found[name] for name in COLUMNS)
    return Read(value, down, up, len(below), int(below.sum()), p, items)


def _correlated(first: pd.DataFrame, second: pd.DataFrame) -> tuple[pd.DataFrame, float, int]:
    """Returns (COLUMNS by seed, p, items) of the orders of two terms."""
    # (seeds, items)
    a = first["value"].unstack().round(TIED)
    b = second["value"].unstack().round(TIED)
    a, b = a.align(b, join="inner")
    items = a.shape[1]
    if a.empty:
        raise NotMeasured("the two terms share no seed or no value that is compared")
    orders = pd.Series({seed: spearman(a.loc[seed], b.loc[seed]) for seed in a.index}, dtype=float)
    whole = a.notna().all(axis=1) & b.notna().all(axis=1)  # an order of fewer is another one
    found = _exact(orders.where(whole))
    unknown = found["value"].isna().any()
    p = 1.0 if unknown else permutation_p(a, b)
    return found, p, items


def _term(
    statement: Statement, term: Term, rows: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Returns (COLUMNS by seed and value of `over`; run, replicate and status) of the rows of a
    term.
    """
    selection = statement.rows | term.rows
    found = selected(rows, selection)
    if found.empty:
        raise NotMeasured(f"no rows of {_words(selection)}")
    if not {"depth", "axis", "at"} & {*selection}:
        found = leading(found)
    listed = {name: value for name, value in selection.items() if isinstance(value, list)}
    listed.pop("factor", None)
    if not statement.unit:
        listed.pop("seed", None)  # each is a reading
    over = [statement.over] if statement.over else []
    by = [*dict.fromkeys([*over, *listed])]
    if statement.log:
        numbers = ["value", "low", "high"]
        positive = found[numbers].where(found[numbers] > 0)
        found = found.copy()
        found[numbers] = np.log(positive)
    # one setting whatever the seed, in each unit
    first = found["replicate"] if statement.unit else pd.Series(0, found.index)
    place = [first, *(found[name] for name in by)]
    counts = settings(found).groupby(place).transform("nunique")
    several = counts.gt(1)
    if several.any():
        names = sorted(found.loc[several, "run"].unique())
        raise NotMeasured(f"several runs answer to one selection: {', '.join(names)}")
    down = found["value"] - found["low"]
    up = found["high"] - found["value"]
    table = _means(found.assign(down=down, up=up), ["replicate", *by])
    whole = partial(_whole, over=statement.over, wanted=listed)
    kept = table.groupby(level="replicate").filter(whole)
    if kept.empty:
        raise NotMeasured(f"not all of {_words(listed)}")
    readings = _means(kept, ["replicate", *over])
    return readings, found[["run", "replicate", "status"]]


def _deviations(readings: pd.DataFrame) -> pd.DataFrame:
    """Returns how far each seed lies from the median of all."""
    values = readings["value"]
    middle = values.median(skipna=False)
    return _exact((values - middle).abs())


def _whole(part: pd.DataFrame, over: str | None, wanted: dict[str, list]) -> bool:
    """True if a seed has every combination of the values wanted, with each value of `over`."""
    inner = [{*values} for name, values in wanted.items() if name != over]
    within = math.prod(map(len, inner))
    if over is None:
        return len(part) == within
    each = part.groupby(level=over).size()
    known = {*each.index} >= {*wanted.get(over, ())}
    return known and bool(each.eq(within).all())


def _means(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """COLUMNS by place; nan where one of a place is."""
    groups = rows.groupby(by)[COLUMNS]
    return groups.agg(lambda numbers: numbers.mean(skipna=False))


def _sum(parts: list[pd.DataFrame], weights: list[float]) -> pd.DataFrame:
    """Returns the weighted sum where all parts have a place; errors add in squares."""
    total = pd.DataFrame(0.0, parts[0].index, COLUMNS)
    for part, times in zip(parts, weights, strict=True):
        down, up = ("down", "up") if times > 0 else ("up", "down")
        weighed = {
            "value": part["value"] * times,
            "down": (part[down] * times) ** 2,
            "up": (part[up] * times) ** 2,
        }
        total = total + pd.DataFrame(weighed)
    indices = [part.index for part in parts]
    common = reduce(pd.Index.intersection, indices)
    squares = total[["down", "up"]]
    total[["down", "up"]] = np.sqrt(squares)
    return total.loc[common]


def _combined(statement: Statement, sums: list[pd.DataFrame]) -> pd.DataFrame:
    """Returns COLUMNS by seed; nan where a seed lacks one of the values that are compared."""
    if statement.statistic == SUM:
        return sums[0]
    table = _compared(statement, sums)
    values = table["value"].round(TIED)
    whole = values.notna().all(axis=1)
    if statement.statistic in OF_UNITS:
        return _of_units(statement.statistic, values[whole])
    if statement.statistic == "rank":
        return _ranked(statement, values).where(whole)
    filled = values.fillna(0).to_numpy()
    least = _picked(table, filled.argmin(1)).where(whole)
    greatest = _picked(table, filled.argmax(1)).where(whole)
    ends = {"least": least, "lowest": least, "greatest": greatest, "highest": greatest}
    if statement.statistic == "spread":
        return _sum([least, greatest], [-1, 1])
    return ends[statement.statistic]


def _compared(statement: Statement, sums: list[pd.DataFrame]) -> Any:
    """Returns a table by seed of all that is compared. Its columns are pairs: a name of COLUMNS,
    and a contrast or a value of `over`.
    """
    if statement.over is not None:
        return sums[0].unstack(statement.over)
    indices = [part.index for part in sums]
    common = reduce(pd.Index.intersection, indices)
    numbered = pd.concat(dict(enumerate(sums)), names=["contrast"])
    return numbered.unstack("contrast").loc[common]


def _ranked(statement: Statement, values: pd.DataFrame) -> pd.DataFrame:
    """Returns COLUMNS by seed of the rank of `of` among the values of `over`."""
    names = {}
    for name in values:
        words = f"{name:g}" if isinstance(name, float) else str(name)
        names[words] = name
    if statement.of not in names:
        raise NotMeasured(f"no rows of {statement.over}={statement.of}")
    ranks = values.rank(axis=1)
    own = ranks[names[statement.of]]
    return _exact(own)


def _picked(table: pd.DataFrame, at: np.ndarray) -> pd.DataFrame:
    """Returns COLUMNS by seed: of each seed the contrast, or the value of `over`, with the number
    that `at` (seeds,) gives.
    """
    seeds = np.arange(len(at))
    found = {}
    for name in COLUMNS:
        numbers = table[name].to_numpy()
        found[name] = numbers[seeds, at]
    return pd.DataFrame(found, table.index)


def _of_units(statistic: str, values: pd.DataFrame) -> pd.DataFrame:
    """Returns COLUMNS of one share of a table (units, values of `over`), with the t-interval of a
    jackknife on the logit: over units, or over values. A bootstrap would repeat units, which agree
    with themselves, so that its lower end would lie too high.
    """
    if len(values) < 3:
        raise NotMeasured(f"fewer than three units have every {values.columns.name}")
    of = _share if statistic == "share" else concordance
    axis = int(statistic == "concordance_of_values")
    table = values.to_numpy(float)
    n = table.shape[axis]
    value = of(table)
    without = [of(np.delete(table, i, axis=axis)) for i in range(n)]
    shares = np.clip([value, *without], 1e-6, 1 - 1e-6)
    whole, *left_out = logit(shares)
    middle = n * whole - (n - 1) * np.mean(left_out)  # a few units agree by chance
    error = np.sqrt((n - 1) * np.var(left_out))
    half = student(n - 1) * error
    low, high = expit([middle - half, middle + half])
    down = max(value - low, 0)
    up = max(high - value, 0)
    return pd.DataFrame({"value": [value], "down": [down], "up": [up]})


def _share(table: np.ndarray) -> float:
    mean = table.mean()
    of_items = (table.mean(0) - mean) ** 2
    between = len(table) * of_items.sum()
    total = ((table - mean) ** 2).sum()
    return float(between / total)


def _exact(value: pd.Series) -> pd.DataFrame:
    """Numbers that have no interval."""
    return pd.DataFrame({"value": value, "down": np.nan, "up": np.nan})


def _words(selection: Selection) -> str:
    words = []
    for name, value in selection.items():
        values = value if isinstance(value, list) else [value]
        words.append(f"{name}={'/'.join(map(str, values))}")
    return ", ".join(words)
