"""The frequencies in force, trained or changed by an extension, from rows of the task `used`."""

from typing import Any

import numpy as np
import pandas as pd

from extrap.results.series import select, told_apart

KEY = ["scheme", "data", "extension", "factor"]
PAIR = ["run", "layer", "at"]


def in_force(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns a line for every scheme, training data, extension and factor with such rows. Ms-PoE
    has none: each text has its own factors.

    pairs      number of pairs of channels that turn, over all layers with rows of their own
    changed    number of these pairs that turn otherwise than trained, at some length
    fastest, slowest    greatest and least ratio of a frequency in force to the trained frequency of
               the pair: 1 and 1 as trained, 1/8 and 1/8 under interpolation by 8
    layers     numbers of the changed layers; empty if all layers are alike
    """
    rows = select(rows, task="used", metric="theta")
    rows = rows.assign(factor=rows["factor"].fillna(1.0))
    rows["scheme"] = rows["scheme"] + told_apart(rows, KEY)
    kind = KEY[:-1]  # a factor may follow the length, from the training length on
    trained_rows = rows[rows["protocol"] == "trained"]
    before = trained_rows.drop_duplicates([*kind, *PAIR])
    used = rows[rows["protocol"] == "used"]
    found = []
    key: tuple[Any, ...]
    for key, active in used.groupby(KEY):
        by = dict(zip(kind, key[:-1], strict=True))
        own = select(before, **by)
        trained = _trained(active, own)
        compared = _compared(active, trained)
        found.append([*key, *compared])
    columns = [*KEY, "pairs", "changed", "fastest", "slowest", "layers"]
    return pd.DataFrame(found, columns=columns).set_index(KEY)


def _trained(active: pd.DataFrame, before: pd.DataFrame) -> np.ndarray:
    """Returns the trained frequency of every row of `active`: its layer has its own, or all layers
    share one.
    """
    pairs = active[PAIR]
    by_layer = before[[*PAIR, "value"]]
    of_layer = pairs.merge(by_layer, "left", PAIR)["value"]
    no_layer = before["layer"].isna()
    shared = before.loc[no_layer, ["run", "at", "value"]]
    of_all = pairs.merge(shared, "left")["value"]
    return of_layer.fillna(of_all).to_numpy(float)


def _compared(active: pd.DataFrame, trained: np.ndarray) -> tuple[int, int, float, float, str]:
    """Returns pairs, changed, fastest, slowest and layers of a line."""
    value = active["value"].to_numpy()
    positive = np.where(trained > 0, trained, np.nan)
    share = value / positive
    same = np.isclose(value, trained, rtol=1e-9, atol=0)
    pairs = active.drop_duplicates(PAIR)
    changed = active[~same].drop_duplicates(PAIR)
    runs = max(1, active["run"].nunique())
    count = len(pairs) // runs
    count_changed = len(changed) // runs
    layers = sorted(changed["layer"].dropna().unique())
    named = ", ".join(f"{layer:g}" for layer in layers)
    return count, count_changed, np.nanmax(share), np.nanmin(share), named


def share_words(share: float) -> str:
    """Returns 1/8 for .125, 1 for 1, x1.5 for what got faster."""
    if share <= 0:
        return "0"
    if share < 1 - 1e-9:
        return f"1/{1 / share:.3g}"
    if share < 1 + 1e-9:
        return "1"
    return f"x{share:.3g}"
