"""The density limit of interpolation: by how much angles may be packed, within the training length,
before reading suffers.
"""

import pandas as pd

from extrap.results.rows import comparable
from extrap.results.series import behind, select, settings

ALLOWED = {"nll": 0.05, "accuracy": 0.05}
"""Nats per token, and share of the answers."""

ASKED = {
    "nll": {"task": "nll", "metric": "nll", "protocol": "nonoverlap"},
    "accuracy": {"task": "kv", "metric": "accuracy", "protocol": "records"},
}
ALL = -1


def costs(rows: pd.DataFrame) -> pd.DataFrame:
    """Columns pair (-1: all of them), k, metric and cost: what is lost against k = 1, the plain
    reader of the same runs, mean over seeds of the model that was probed most.

    Loss: windows of the training length; accuracy: records, mean over depths. From rows of
    extension=pi-pair and extension=direct, which ask the same texts and records. Raises UserError
    for mixed corpora.
    """
    rows = comparable(rows)
    extension = behind(rows["extension"])
    named = extension.str.extract(r"^pi-pair(?:,pair=(\d+|null))?$")[0]
    pair = named.replace("null", str(ALL)).fillna("0").astype(int)
    probes = rows[extension.str.startswith("pi-pair")].assign(pair=pair)
    probes = probes[_model(probes) == _most_probed(probes)]
    probed = rows["run"].isin(probes["run"])
    unchanged = rows[(extension == "direct") & probed]
    found = []
    for metric, asked in ASKED.items():
        part = within(select(probes, **asked))
        plain = within(select(unchanged, **asked))
        part = part.groupby(["pair", "factor", "run"], as_index=False)["value"].mean()
        plain = plain.groupby("run")["value"].mean()
        if part.empty or plain.empty:
            continue
        sign = 1 if metric == "nll" else -1
        added = part["value"] - part["run"].map(plain)
        part["cost"] = added * sign
        means = part.groupby(["pair", "factor"], as_index=False)["cost"].mean()
        pairs = means["pair"].unique()
        ones = pd.DataFrame({"pair": pairs, "factor": 1.0, "cost": 0.0})
        means = pd.concat([ones, means])
        table = means.rename(columns={"factor": "k"}).assign(metric=metric)
        found.append(table.sort_values(["pair", "k"]))
    return pd.concat(found, ignore_index=True)


def _model(rows: pd.DataFrame) -> pd.Series:
    return rows["scheme"] + "-" + settings(rows)


def _most_probed(rows: pd.DataFrame) -> str:
    """Of several with as many pairs and factors the first by name."""
    probed = rows[["pair", "factor"]].assign(model=_model(rows))
    counts = probed.drop_duplicates()["model"].value_counts()
    most = counts.index[counts == counts.max()]
    return min(most, default="")


def within(rows: pd.DataFrame) -> pd.DataFrame:
    """Those at the training length."""
    return rows[rows["length"] == rows["train_length"]]


def greatest(rows: pd.DataFrame, metric: str) -> str:
    """Of the costs of one pair in one metric: the greatest measured k up to which it stays within
    what is allowed.
    """
    rows = rows.sort_values("k")
    allowed = rows["cost"] < ALLOWED[metric]
    if allowed.all():
        return f"k = {rows['k'].max():g} and more"
    up_to_limit = rows["k"][allowed.cummin()]
    return f"k = {up_to_limit.max():g}"
