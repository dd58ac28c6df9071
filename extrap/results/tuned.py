"""The recipe of each scheme, chosen by what is seen within the training length alone.

A study that trains each scheme under several numbered recipes gives every scheme its own: among the
recipes under which each of its runs passes the gate, the one with the lowest loss at L (`nll`,
`sliding`, mean over seeds); if no recipe passes, the one that finds most at L (`kv`, `records`).
While a study runs, seeds of which recipes are missing have no part in the choice: a recipe is not
held to a mean over other seeds. Nor has what lies past L: a leaderboard past L stays a test.
"""

import pandas as pd

GATED = {"task": "kv", "metric": "accuracy", "protocol": "records"}
LOSS = {"task": "nll", "metric": "nll", "protocol": "sliding"}
MODEL = ["scheme", "size", "train_length"]
RECIPES = [*MODEL, "recipe"]


def own_recipes(rows: pd.DataFrame) -> pd.Series:
    """Returns the number of the chosen recipe by scheme, size and training length. rows: with the
    columns `recipe`, `multiple` and `size` of `findings.statistics.prepared`.
    """
    numbered = rows["recipe"].notna()
    plain = rows["extension"].eq("direct")
    within = rows[numbered & plain & rows["multiple"].eq(1)]
    gated = whole_seeds(_picked(within, GATED))
    text = whole_seeds(_picked(within, LOSS))
    gated = gated.assign(passes=gated["status"].eq("ok"))
    recipes = gated.groupby(RECIPES)
    losses = text.groupby(RECIPES)
    measured = {
        "found": recipes["value"].mean(),
        "loss": losses["value"].mean(),
        "passes": recipes["passes"].all(),
    }
    table = pd.DataFrame(measured).dropna()
    # the loss decides among recipes that pass, what is found among the others
    passes = table["passes"].astype(bool)  # of objects, where a run is half measured
    table["found"] = table["found"].mask(passes, 1.0)
    table["loss"] = table["loss"].where(passes, 0.0)
    order = ["passes", "found", "loss"]
    best = table.sort_values(order, ascending=[False, False, True], kind="stable")
    models = best.reset_index().groupby(MODEL)
    return models["recipe"].first()


def _picked(rows: pd.DataFrame, of: dict[str, str]) -> pd.DataFrame:
    """Returns the rows with these values."""
    wanted = pd.DataFrame([of])
    return rows.merge(wanted)


def whole_seeds(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of the seeds that have as many recipes of a model as any seed has."""
    recipes = rows.groupby([*MODEL, "seed"])["recipe"].transform("nunique")
    most = recipes.groupby([rows[name] for name in MODEL]).transform("max")
    return rows[recipes.eq(most)]


def is_own(rows: pd.DataFrame) -> pd.Series:
    """Returns 1 for rows of a scheme's own recipe, 0 for its others, nan without a recipe."""
    chosen = own_recipes(rows)
    if chosen.empty:
        return pd.Series(float("nan"), rows.index)
    models = pd.MultiIndex.from_frame(rows[MODEL])
    of_rows = chosen.reindex(models).to_numpy(float)
    own = pd.Series(of_rows, rows.index)
    known = rows["recipe"].notna() & own.notna()
    same = own.eq(rows["recipe"])
    return same.astype(float).where(known)
