"""A length card: how far a model reads, as plain values from rows alone.

series, scheme, extension, data, train_length, parameters, seeds, below_the_gate
effective_length    by task and protocol: tokens, low, high, at_least
loss                nats per token at multiples of L by protocol, as [mean, low, high]
found               accuracy at multiples of L by task, as [mean, low, high]
worst_depth         [accuracy, depth] at multiples of L by task
layers              of a checkpoint, where rows say: their number, and in how many of them the
                    window, the base and the like have which value
protocol            documents or trials of each task; corpus; hashes of the evaluations

A series has a card for each of its extensions. `extrap publish --cards` adds `cost`, which rows do
not hold: of training and evaluating the runs of the series whose folders are here.
"""

import math
from typing import Any

import numpy as np
import pandas as pd

from extrap.results.cells import cells, counted
from extrap.results.effective import effective_lengths
from extrap.results.series import Series, select, whole
from extrap.results.stats.intervals import ENOUGH, mean_over_seeds

VERSION = 1
MULTIPLES = (0.5, 1, 2, 4, 8, 16)


def cards(rows: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Returns the card of every series by its label. Raises UserError for mixed corpora."""
    return {s.label: card(s) for s in whole(rows)}


def card(s: Series) -> dict[str, Any]:
    """Returns the card of a series of `whole` as plain values; a list is [mean, low, high]."""
    rows = s.rows
    size = rows["params"].dropna()
    lost = rows.loc[rows["mark"] != "ok", "run"].nunique()
    seeds = rows["seed"].unique()
    layers = _layers(rows)
    return {
        "length_card": VERSION,
        "series": s.label,
        "scheme": s.scheme,
        "extension": s.extension,
        "data": s.data,
        "train_length": int(rows["train_length"].iloc[0]),
        "parameters": int(size.iloc[0]) if len(size) else None,
        "seeds": sorted(int(seed) for seed in seeds),
        "below_the_gate": int(lost),
        "effective_length": _effective(s),
        "loss": _scores(rows, "nll"),
        "found": _scores(rows, "accuracy"),
        "worst_depth": _worst(rows),
        **({"layers": layers} if layers else {}),
        "protocol": _protocol(rows),
    }


def _effective(s: Series) -> dict[str, dict[str, Any]]:
    found = {}
    for (task, protocol), one in effective_lengths(s).items():
        found[f"{task} {protocol}".strip()] = {
            "tokens": _number(one.tokens, 1),
            "low": _number(one.low, 1),
            "high": _number(one.high, 1),
            "at_least": bool(one.least),
        }
    return found


def _scores(rows: pd.DataFrame, metric: str) -> dict[str, dict[str, list]]:
    """Returns means over the seeds that count by task and protocol, then by multiple of L. One seed
    keeps the interval of its documents or trials, if there are enough of them.
    """
    found: dict[str, dict[str, list]] = {}
    scores = counted(cells(rows, [metric]))
    scores = scores[scores["multiple"].isin(MULTIPLES)]
    within = (0, 1) if metric == "accuracy" else (0, math.inf)
    for (task, protocol, multiple), part in scores.groupby(["task", "protocol", "multiple"]):
        if len(part) == 1:
            few = part["n"].lt(ENOUGH).fillna(False).iloc[0]
            value, *ends = part[["value", "low", "high"]].iloc[0]
            three = (value, *([math.nan] * 2 if few else np.clip(ends, *within)))
        else:
            three = mean_over_seeds(part["value"], within)
        place = found.setdefault(f"{task} {protocol}".strip(), {})
        place[f"{multiple:g} L"] = [_number(float(x), 4) for x in three]
    return found


def _worst(rows: pd.DataFrame) -> dict[str, dict[str, list]]:
    """Returns [accuracy, depth] of the worst depth by task and protocol, then by multiple of L."""
    found: dict[str, dict[str, list]] = {}
    at_depths = select(rows, metric="accuracy").dropna(subset="depth")
    scores = counted(at_depths)
    for (task, protocol, multiple), part in scores.groupby(["task", "protocol", "multiple"]):
        means = part.groupby("depth")["value"].mean()
        least = float(means.min())
        depth: Any = means.idxmin()
        place = found.setdefault(f"{task} {protocol}".strip(), {})
        place[f"{multiple:g} L"] = [_number(least, 4), float(depth)]
    return found


def _layers(rows: pd.DataFrame) -> dict[str, Any]:
    """Returns the number of layers, and by what a layer has the number of layers by its value; {}
    if no rows say.
    """
    of_layers = select(rows, task="used", protocol="layers")
    one_run = of_layers[of_layers["run"] == of_layers["run"].min()]
    found: dict[str, Any] = {}
    for metric, part in one_run.groupby("metric"):
        counts = part["value"].value_counts().sort_index()
        found[str(metric)] = {f"{value:.12g}": int(count) for value, count in counts.items()}
    return {"number": int(one_run["layer"].nunique())} | found if found else {}


def _protocol(rows: pd.DataFrame) -> dict[str, Any]:
    with_count = rows.dropna(subset="n")
    counts = with_count.groupby("task")["n"].max()
    return {
        "corpus": sorted({*rows["corpus"]} - {""}),
        "documents_or_trials": {str(task): int(n) for task, n in counts.items()},
        "evaluations": sorted({*rows["config"]}),
    }


def _number(value: float, digits: int) -> float | None:
    return round(value, digits) if math.isfinite(value) else None
