"""What a scheme finds and models at 4 L under each numbered recipe."""

import pandas as pd

from extrap.figures.kv_length import means
from extrap.results.findings.statistics import prepared
from extrap.results.rows import comparable
from extrap.results.series import select

FOUND = {"task": "kv", "metric": "accuracy", "protocol": "records", "extension": "direct"}
LOSS = {"task": "nll", "metric": "nll", "protocol": "sliding", "extension": "direct"}
TIMES = 4
"""Multiple of L of the readings."""
MODEL = ["scheme", "recipe", "tuned"]


def found(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the accuracy of each scheme and recipe, the mean over depths and seeds."""
    return _readings(rows, means(rows), FOUND)


def loss(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the loss of each scheme and recipe, the mean over seeds."""
    return _readings(rows, comparable(rows), LOSS)


def _readings(rows: pd.DataFrame, scores: pd.DataFrame, of: dict[str, str]) -> pd.DataFrame:
    """Returns `value` by scheme, recipe and whether it is the scheme's own, and `lost`: no seed
    passes the gate.
    """
    models = prepared(rows)[["run", *MODEL]].drop_duplicates().dropna()
    here = select(scores, **of)
    at = TIMES * here["train_length"]
    far = here[here["length"] == at].drop(columns="scheme")
    known = far.merge(models, on="run")
    learned = rows["task"].eq("kv") & rows["status"].eq("ok")
    runs = rows.loc[learned, "run"]
    known = known.assign(passes=known["run"].isin(runs))
    groups = known.groupby(MODEL, as_index=False)
    read = groups.agg(value=("value", "mean"), passes=("passes", "any"))
    return read.assign(lost=~read["passes"])
