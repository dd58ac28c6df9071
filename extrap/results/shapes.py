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
    """Returns the shape of every curve of kv accuracy over depth: a line per series that learned
    the task, a column per protocol and length; `-` where two seeds support no interval.
    """
    rows = select(rows, task="kv", metric="accuracy").dropna(subset="depth")
    out: dict[tuple, dict[str, str]] = {}
    for s in (s for s in series(rows) if s.ok):
        for (protocol, length), part in s.rows.groupby(["protocol", "length"]):
            value, low, high = spread(part, "depth").to_numpy(float).T
            place = protocol != "records", length / part["train_length"].iloc[0], protocol
            kind = shape(value, low, high) if np.isfinite(low).all() else "-"
            out.setdefault(place, {})[s.label] = kind
    names = {place: f"kv {place[2]} {place[1]:g}x" for place in sorted(out)}
    return pd.DataFrame({name: out[place] for place, name in names.items()}).fillna("-")
