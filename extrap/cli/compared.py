"""The published numbers of an evaluation beside the numbers that `extrap verify` computes."""

from collections.abc import Sequence, Set

import numpy as np
import pandas as pd

from extrap.results import schema
from extrap.results.left_out import Rule, left
from extrap.results.series import SHARES

ENOUGH = 0.9
"""Share of the numbers of a cell that lie in their intervals."""
ROUNDING = 1e-3
"""Relative difference of two machines on the same weights."""
MIXED, MIXED_SHARES = 0.5, 0.9
"""Share of equal bits above which every other number was changed by hand: rounding of another
machine changes nearly all, but for shares of right answers, which are often 0 or 1 on both.
"""
WIDER = 3
"""By how much the intervals of two trainings differ at most, and how many widths lie between."""
EXACT = ("value", "low", "high")
COUNTED = ("n", "tokens")
"""Columns that no machine changes."""
TOLD = ("study", "params", "corpus")
"""Columns that a job decides, and that no row leaves empty unless the computed row does."""
KEY = [name for name in schema.KEY if name != "study"]


def compared(
    own: pd.DataFrame,
    found: pd.DataFrame,
    rules: Sequence[Rule] | None,
    kept: bool,
    kinds: Set[tuple[str, str]],
) -> tuple[str, bool]:
    """Returns `same bits`, `within its interval`, `no interval` or `not` with the reason, and
    whether it holds.

    Args:
        own: published rows of one evaluation
        found: its rows as they are computed again
        rules: of rows that its study leaves out; None: any row may be missing
        kept: measured on weights that were kept, so that only rounding may differ
        kinds: protocols and metrics that the study has in rows of this task and version
    """
    both = own.merge(found, on=KEY, how="left", suffixes=("", "_again"), indicator=True)
    if (lost := both["_merge"] != "both").any():
        return f"not: {int(lost.sum())} of its rows are not measured", False
    dropped, more = _missing(own, found, rules, kinds)
    if dropped:
        return f"not: {dropped} of its rows are missing", False
    rows = f"{len(both)} rows" + (f", {more} more computed" if more else "")
    if (both["status"] != both["status_again"]).any():
        return "not: the gate says something else", False
    for name in (*COUNTED, *TOLD):
        one, other = both[name], both[f"{name}_again"]
        if (off := (one != other).fillna(True) & ~(one.isna() & other.isna())).any():
            return f"not: {_named(both[off], name)}", False
    alike = _alike(both)
    if alike.all():
        return f"same bits ({rows})", True
    inside, near = _rounded(both) if kept else _within(both)
    bare = _bare(both) & (not kept)
    shares = both["metric"].isin(SHARES).any()
    if alike.mean() > (MIXED_SHARES if shares else MIXED):
        inside = near = alike
    elif bare.all():
        return f"no interval ({rows})", True
    elif inside[~bare].mean() >= ENOUGH and near[~bare].all():
        of = "rounding" if kept else "its interval"
        rest = f", {int(bare.sum())} without an interval" if bare.any() else ""
        return f"within {of} ({int(inside[~bare].sum())} of {rows}{rest})", True
    else:
        both, inside, near = both[~bare], inside[~bare], near[~bare]
    worst = both[~near] if inside.mean() >= ENOUGH else both[~inside]
    farthest = max(EXACT, key=lambda name: _off(worst[:1], [name]).iloc[0])
    return f"not: {_named(worst, farthest)}", False


def _missing(
    own: pd.DataFrame,
    found: pd.DataFrame,
    rules: Sequence[Rule] | None,
    kinds: Set[tuple[str, str]],
) -> tuple[int, int]:
    """Returns how many computed rows were not published although no rule leaves them out: first the
    rows of published kinds, which somebody dropped, then those of other kinds, which a later
    version measures.
    """
    if rules is None:
        return 0, 0
    both = found[~left(found, list(rules))].merge(own[KEY], on=KEY, how="left", indicator=True)
    gone = both[both["_merge"] == "left_only"]
    dropped = sum(kind in kinds for kind in zip(gone["protocol"], gone["metric"], strict=True))
    return dropped, len(gone) - dropped


def _alike(both: pd.DataFrame) -> pd.Series:
    """Returns a mask of the rows whose numbers have the same bits."""
    one = both[[*EXACT]].to_numpy()
    other = both[[f"{name}_again" for name in EXACT]].to_numpy()
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    return pd.Series(same.all(1), both.index)


def _bare(both: pd.DataFrame) -> pd.Series:
    """Returns a mask of the rows that have an interval in neither table: nothing says how far two
    trainings of such a number lie apart.
    """
    ends = both[["low", "high", "low_again", "high_again"]]
    same = both["value"].isna() == both["value_again"].isna()
    return ends.isna().all(axis=1) & same


def _rounded(both: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Returns masks of the rows whose numbers differ by rounding, and of those which differ by no
    more than the interval that was computed: rounding turns a tie of one trial.
    """
    off = _off(both, EXACT)
    width = (both["high_again"] - both["low_again"]).fillna(0)
    return off <= 0, off <= width


def _within(both: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Returns masks of the rows whose published value lies in the interval that was computed, the
    computed value in the published interval, both about as wide; and of the rows whose ends differ
    by no more than a few widths. An interval that somebody edited counts for nothing.
    """
    low, high = (both[f"{end}_again"].fillna(both["value_again"]) for end in ("low", "high"))
    own_low, own_high = (both[end].fillna(both["value"]) for end in ("low", "high"))
    room, width, own_width = _room(both, "value"), high - low, own_high - own_low
    inside = both["value"].between(low - room, high + room)
    inside &= both["value_again"].between(own_low - room, own_high + room)
    inside &= own_width.between(width / WIDER - room, width * WIDER + room)
    inside |= both["value"].isna() & both["value_again"].isna()
    none = both["low_again"].isna() & both["high_again"].isna()
    return inside, none | (_off(both, ("low", "high")) <= WIDER * width)


def _off(both: pd.DataFrame, names: Sequence[str]) -> pd.Series:
    """Returns by how much the numbers of each row differ beyond rounding, the most of them."""
    worst = pd.Series(-np.inf, both.index)
    for name in names:
        one, other = both[name], both[f"{name}_again"]
        off = (one - other).abs() - _room(both, name)
        same = (one == other) | (one.isna() & other.isna())
        off = off.where(~same, -np.inf).fillna(np.inf)
        worst = worst.combine(off, max)
    return worst


def _room(both: pd.DataFrame, name: str) -> pd.Series:
    return ROUNDING * both[f"{name}_again"].abs() + 1e-9


def _named(rows: pd.DataFrame, name: str) -> str:
    """Returns the first of some rows in words: its place, its number, the computed one."""
    first = rows.iloc[0]
    where = f"{first['protocol']} {first['length']} {first['metric']}".replace("<NA>", "")
    where += "" if name == "value" else f" {name}"
    one, other = (
        f"{x:.4g}" if isinstance(x, float) else f"{x}" for x in first[[name, f"{name}_again"]]
    )
    return f"{where} {one or 'none'}, computed {other or 'none'}"
