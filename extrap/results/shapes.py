"""The shape of curves of accuracy over depth, as far as intervals show it."""

import numpy as np
import pandas as pd

from extrap.results.series import select, series, spread


def shape(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> str:
    """What a curve over positions or depths is, as far as its intervals tell.

    several minima       some place lies above one before it and one after it
    interior minimum     not so, and some place lies below both ends
    falls, rises         not so, and one end lies below the other
    flat                 none of these

    `Above` means that intervals do not meet.

    Args:
        values, low, high: (places,) in their order; the ends of 95 % intervals.
    Source: arXiv 2605.09213 (a unique minimum inside), which several minima and a curve that falls
    or rises contradict.
    """
    before = np.minimum.accumulate(high)
    after = np.minimum.accumulate(high[::-1])[::-1]
    if ((low[1:-1] > before[:-2]) & (low[1:-1] > after[2:])).any():
        return "several minima"
    if (high[1:-1] < min(low[0], low[-1])).any():
        return "interior minimum"
    if high[0] < low[-1]:
        return "rises"
    return "falls" if high[-1] < low[0] else "flat"


def shapes(rows: pd.DataFrame) -> pd.DataFrame:
    """The shape of every curve of kv accuracy over depth: a line per series that learned the task,
    a column per protocol and length; `-` where two seeds support no interval.
    """
    rows = select(rows, task="kv", metric="accuracy")
    rows = rows[rows["depth"].notna()] if len(rows) else rows
    if rows.empty:
        return pd.DataFrame()
    out: dict[str, dict[str, str]] = {}
    for s in (s for s in series(rows) if s.ok):
        for (protocol, length), part in s.rows.groupby(["protocol", "length"]):
            curve = spread(part, "depth")
            low, high = (curve[name].to_numpy(float) for name in ("low", "high"))
            name = f"kv {protocol} {length / part['train_length'].iloc[0]:g}x"
            known = np.isfinite(low).all()
            kind = shape(curve["value"].to_numpy(float), low, high) if known else "-"
            out.setdefault(name, {})[s.label] = kind
    order = sorted(
        out, key=lambda name: (name.split()[1] != "records", float(name.split()[2][:-1]))
    )
    return pd.DataFrame({name: out[name] for name in order}).fillna("-")
