"""The recipe of each scheme, chosen by what is seen within the training length alone.

A study that trains each scheme under several numbered recipes gives every scheme its own: among the
recipes under which each of its runs passes the gate, the one with the lowest loss at L (`nll`,
`sliding`, mean over seeds); if no recipe passes, the one that finds most at L (`kv`, `records`).
What lies past L has no part in the choice, so that a leaderboard past L stays a test.
"""

import pandas as pd

GATED = {"task": "kv", "metric": "accuracy", "protocol": "records"}
LOSS = {"task": "nll", "metric": "nll", "protocol": "sliding"}
MODEL = ["scheme", "size", "train_length"]


def own_recipes(rows: pd.DataFrame) -> pd.Series:
    """Returns the number of the chosen recipe by scheme, size and training length. rows: with the
    columns `recipe`, `multiple` and `size` of `findings.statistics.prepared`.
    """
    within = rows[rows["recipe"].notna() & rows["multiple"].eq(1)]
    found, loss = _means(within, GATED), _means(within, LOSS)
    gated = within.merge(pd.DataFrame([GATED]))
    passes = gated["status"].eq("ok").groupby([gated[name] for name in [*MODEL, "recipe"]]).all()
    table = pd.DataFrame({"found": found, "loss": loss, "passes": passes}).dropna()
    table["found"] = table["found"].mask(table["passes"], 1.0)
    table["loss"] = table["loss"].where(table["passes"], 0.0)
    order = ["passes", "found", "loss"]
    best = table.sort_values(order, ascending=[False, False, True], kind="stable").reset_index()
    return best.groupby(MODEL)["recipe"].first()


def _means(rows: pd.DataFrame, of: dict[str, str]) -> pd.Series:
    picked = rows.merge(pd.DataFrame([of]))
    return picked.groupby([*MODEL, "recipe"])["value"].mean()


def is_own(rows: pd.DataFrame) -> pd.Series:
    """Returns 1 for rows of a scheme's own recipe, 0 for its others, nan without a recipe."""
    chosen = own_recipes(rows)
    if chosen.empty:
        return pd.Series(float("nan"), rows.index)
    places = pd.MultiIndex.from_frame(rows[MODEL])
    own = pd.Series(chosen.reindex(places).to_numpy(float), rows.index)
    return own.eq(rows["recipe"]).astype(float).where(rows["recipe"].notna() & own.notna())
