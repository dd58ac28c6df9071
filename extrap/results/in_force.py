"""The frequencies in force, trained or changed by an extension, from rows of the task `used`."""

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
    kind, found = KEY[:-1], []  # a factor may follow the length, from the training length on
    before = rows[rows["protocol"] == "trained"].drop_duplicates([*kind, *PAIR])
    shared = before[before["layer"].isna()].drop(columns="layer")  # alike in all layers
    for key, active in rows[rows["protocol"] == "used"].groupby(KEY):
        by = dict(zip(kind, key[:-1], strict=True))
        own, alike = (select(part, **by) for part in (before, shared))
        at = active[PAIR].merge(own[[*PAIR, "value"]], "left", PAIR)["value"]
        at = at.fillna(active[PAIR].merge(alike[["run", "at", "value"]], "left")["value"])
        trained = at.to_numpy(float)
        share = active["value"].to_numpy() / np.where(trained > 0, trained, np.nan)
        other = ~np.isclose(active["value"], trained, rtol=1e-9, atol=0)
        pairs, changed = (part.drop_duplicates(PAIR) for part in (active, active[other]))
        runs, layers = max(1, active["run"].nunique()), sorted(changed["layer"].dropna().unique())
        named = ", ".join(f"{layer:g}" for layer in layers)
        ends = np.nanmax(share), np.nanmin(share)
        found.append([*key, len(pairs) // runs, len(changed) // runs, *ends, named])
    columns = [*KEY, "pairs", "changed", "fastest", "slowest", "layers"]
    return pd.DataFrame(found, columns=columns).set_index(KEY)


def share_words(share: float) -> str:
    """Returns 1/8 for .125, 1 for 1, x1.5 for what got faster."""
    if share < 1 - 1e-9:
        return f"1/{1 / share:.3g}" if share > 0 else "0"
    return "1" if share < 1 + 1e-9 else f"x{share:.3g}"
