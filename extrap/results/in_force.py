"""The frequencies in force: what an extension made of those that were trained, read from the rows
of the task `used`.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from extrap.results.methods import compared, methods, order
from extrap.results.series import select, told_apart

KEY = ["scheme", "data", "extension", "factor"]


def in_force(rows: pd.DataFrame) -> pd.DataFrame:
    """A line for every scheme, training data, extension and factor that has such rows. Ms-PoE has
    none: its factors are those of each text.

    pairs      of channels that turn, of all layers that are told apart
    changed    how many of them turn otherwise than trained, at some length
    fastest, slowest    the greatest and the least frequency in force over that of the same pair as
               trained: 1 and 1 as trained, 1/8 and 1/8 under interpolation by 8
    layers     numbers of the layers that are changed; empty where all are alike
    """
    rows = select(rows, task="used", metric="theta")
    pair = ["run", "layer", "at"]
    found = []
    rows = rows.assign(factor=rows["factor"].fillna(1.0))
    rows["scheme"] = told_apart(rows, "scheme", KEY)
    kind = KEY[:-1]  # a factor may follow the length, from that of training on
    before_it = rows[rows["protocol"] == "trained"].drop_duplicates([*kind, *pair])
    own = {key: part.set_index(pair)["value"] for key, part in before_it.groupby(kind)}
    for key, active in rows[rows["protocol"] == "used"].groupby(KEY):
        trained = own[key[:-1]]
        if len(trained) != len(active.drop_duplicates(pair)) and active["layer"].notna().any():
            trained = _in_layers(trained, active)
        before = trained.reindex(pd.MultiIndex.from_frame(active[pair])).to_numpy()
        share = active["value"].to_numpy() / np.where(before > 0, before, np.nan)
        other = ~np.isclose(active["value"], before, rtol=1e-9, atol=0)
        changed = active[other].drop_duplicates(pair)
        runs = max(1, active["run"].nunique())
        layers = changed["layer"].dropna().unique() if active["layer"].notna().any() else []
        found.append(
            [
                *key,
                len(active.drop_duplicates(pair)) // runs,
                len(changed) // runs,
                np.nanmax(share),
                np.nanmin(share),
                ", ".join(f"{layer:g}" for layer in sorted(layers)),
            ]
        )
    columns = [*KEY, "pairs", "changed", "fastest", "slowest", "layers"]
    return pd.DataFrame(found, columns=columns).set_index(KEY)


def _in_layers(trained: pd.Series, active: pd.DataFrame) -> pd.Series:
    """Frequencies as trained, which all layers share, for each layer that the rows tell apart."""
    shared = trained.reset_index().drop(columns="layer")
    return shared.merge(active[["run", "layer"]].drop_duplicates(), on="run").set_index(
        ["run", "layer", "at"]
    )["value"]


def share_words(share: float) -> str:
    """1/8 for .125, 1 for 1, x1.5 for what got faster."""
    if share < 1 - 1e-9:
        return f"1/{1 / share:.3g}" if share > 0 else "0"
    return "1" if share < 1 + 1e-9 else f"x{share:.3g}"


def in_force_note(rows: pd.DataFrame, drawn: Iterable[str]) -> str:
    """For the line under a figure: of the methods that are drawn in it, the slowest pair in force
    over that as trained. Nothing where no rows tell.
    """
    if (active := select(rows, task="used", metric="theta")).empty:
        return ""
    active = compared(methods(active))
    active = active[active["method"].isin({*drawn} - {"direct"})]
    by_share: dict[str, list[str]] = {}
    for method in order(active["method"]):
        found = in_force(active[active["method"] == method])
        if found.empty:
            continue
        slowest = share_words(float(found["slowest"].min()))
        by_share.setdefault(slowest, []).append(method)
    phrases = [
        f"{share} as trained in {', '.join(names)}" if share != "1" else f"1 in {', '.join(names)}"
        for share, names in sorted(by_share.items())
    ]
    return f" · slowest pair in force: {'; '.join(phrases)}" if phrases else ""
