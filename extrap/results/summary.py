"""The study in tables: perplexity and retrieval side by side, because a flat perplexity is no
retrieval; the gates of all tasks; and who learns retrieval, how fast, and how far.
"""

from itertools import chain

import numpy as np
import pandas as pd

from extrap.results.cells import cells, counted
from extrap.results.effective import NOTHING, effective_lengths
from extrap.results.series import diverged, select, status_name, whole

PARTS = ("text", "retrieval")
PROTOCOLS = ("nonoverlap", "last_segment")
FAR = (1, 2, 4, 16)
ACCURACIES = {"mean": (1, 2, 4), "middle": (1, 2, 4), "ends": (1, 2, 4), "padded": (2, 4)}
OF_CELLS = {"mean": "records", "padded": "padded"}
AT_DEPTHS = {"middle": (0.5,), "ends": (0, 1)}
"""Accuracies that are cells, by protocol, and of a part of the depths."""
PLACED = ("lost-in-the-middle", "multidoc-qa")
"""Tasks whose contexts are counted in records or documents, and in no multiple of L."""
LEARNED = (1, 2, 4, 8)
"""Multiples of the training length in the table of `learning`."""


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns one line per series, indexed by label, with columns

    seeds, steps_to_90, last points of the training loss in nats per token ("trained text"),
    perplexities ("nonoverlap 4x"), accuracies ("mean 4x", "middle 4x", "ends 4x", "padded 4x"),
    verdict.

    Values are means over seeds: of steps where all seeds come to 90 %, of accuracies the seeds that
    trained, if any did. `mean` over depths, `middle` at depth .5, `ends` the mean of depths 0 and 1
    are of protocol records; at 1x the gate looks at the mean. Raises UserError for mixed corpora.
    """
    lines = {s.label: _line(s.rows) for s in whole(rows)}
    return pd.DataFrame.from_dict(lines, orient="index")


def reach(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the `Effective` length of every series, a line each, in every task and protocol that
    has one, a column each ("kv records"); of the seeds that pass the gate. Raises UserError for
    mixed corpora.
    """
    lengths = {s.label: effective_lengths(s) for s in whole(rows)}
    lines = {label: found for label, found in lengths.items() if found}
    places = sorted(set(chain.from_iterable(lines.values())))
    columns = {}
    for place in places:
        columns[" ".join(place)] = [line.get(place, NOTHING) for line in lines.values()]
    return pd.DataFrame(columns, [*lines], dtype=object)


def gates(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the gate of every task, the mean accuracy within the training length, as text: a line
    for each task and protocol that has one, a column for each series.

    `.97`: all seeds have 0.9 or more; `.94 2/3`: two of three have. Of plain readings, means over
    seeds. Raises UserError for mixed corpora.
    """
    found = select(rows, metric="gate", extension="direct")
    table: dict[str, dict[str, str]] = {}
    for s in whole(found):
        for (task, protocol), part in s.rows.groupby(["task", "protocol"]):
            ok = part["mark"] == "ok"
            passed = int(ok.sum())
            text = f"{part['value'].mean():.2f}".removeprefix("0")
            if passed < len(part):
                text += f" {passed}/{len(part)}"
            line = table.setdefault(f"{task} {protocol}", {})
            line[s.label] = text
    return pd.DataFrame.from_dict(table, orient="index").fillna("-")


def by_place(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns accuracy by place of what is asked for, first to last, of the tests in plain text, as
    text: `.53 .05 .38`. A line for each task, protocol and number of records or documents, a column
    for each series; means over seeds. Raises UserError for mixed corpora.
    """
    placed = rows["task"].isin(PLACED) & (rows["metric"] == "accuracy") & rows["depth"].notna()
    table: dict[str, dict[str, str]] = {}
    for s in whole(rows[placed]):
        for (task, protocol, at), part in s.rows.groupby(["task", "protocol", "at"]):
            means = part.groupby("depth")["value"].mean()
            shares = [f"{mean:.2f}".removeprefix("0") for mean in means]
            table.setdefault(f"{task} {protocol}, {at:g}", {})[s.label] = " ".join(shares)
    return pd.DataFrame.from_dict(table, orient="index").fillna("-")


def learning(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns means over seeds, by scheme, of plain readings; accuracies are of the seeds that
    count (extrap.results.cells).

    seeds      number of seeds
    passed     seeds that reach the gate
    arrived    seeds with nine right answers in ten at some step of training
    steps      mean of this step over the seeds that arrived; NaN without one
    1 ... 8    accuracy of the records protocol at this multiple of the training length, mean over
               depths
    least      accuracy of the worst depth at the training length
    """
    kv = select(rows, task="kv", metric="accuracy", protocol="records", extension="direct")
    kv = kv.assign(mark=kv["status"])
    scores = counted(cells(kv), ["scheme"])
    gates = select(rows, task="kv", metric="gate", protocol="records", extension="direct")
    ok = gates["status"] == "ok"
    steps = select(rows, task="train", protocol="retrieval", metric="steps_to_90")
    by_scheme = steps.groupby("scheme")["value"]
    counts = {
        "seeds": gates.groupby("scheme")["run"].nunique(),
        "passed": ok.groupby(gates["scheme"]).sum(),
        "arrived": by_scheme.count(),
        "steps": by_scheme.mean(),
    }
    table = pd.DataFrame(counts)
    for m in LEARNED:
        own = scores[scores["multiple"] == m]
        table[m] = own.groupby("scheme")["value"].mean()
    at_depths = counted(kv.dropna(subset="depth"), ["scheme"])
    within = at_depths[at_depths["multiple"] == 1]
    at_depth = within.groupby(["scheme", "depth"])["value"].mean()
    return table.assign(least=at_depth.groupby("scheme").min())


def _line(rows: pd.DataFrame) -> dict:
    steps = select(rows, task="train", metric="steps_to_90")["value"]
    seeds = rows["run"].nunique()
    # a mean over the seeds that arrived would praise a scheme that seldom does
    arrived = steps.mean() if len(steps) == seeds else np.nan
    kv = select(rows, seen="retrieval", task="kv")
    scores = counted(cells(kv, ["accuracy"]))
    return {
        "seeds": seeds,
        "steps_to_90": arrived,
        **_trained(rows[~rows["run"].isin(diverged(rows))]),
        **_perplexities(rows),
        **_accuracies(scores, kv),
        "verdict": _verdict(rows, kv, scores),
    }


def _trained(rows: pd.DataFrame) -> dict[str, float]:
    """Returns the last points of the training loss."""
    curve = select(rows, task="train", axis="step", metric="nll")
    line = {}
    for part in PARTS:
        own = curve[curve["protocol"] == part]
        ends = own.groupby("run")["at"].transform("max")
        values = own.loc[own["at"] == ends, "value"]
        line[f"trained {part}"] = values.mean()
    return line


def _perplexities(rows: pd.DataFrame) -> dict[str, float]:
    losses = cells(select(rows, seen="text", task="nll", metric="nll"))
    line = {}
    for protocol in PROTOCOLS:
        own = losses[losses["protocol"] == protocol]
        for m in FAR:
            values = own.loc[own["multiple"] == m, "value"]
            line[f"{protocol} {m}x"] = np.exp(values.mean())
    return line


def _accuracies(scores: pd.DataFrame, kv: pd.DataFrame) -> dict[str, float]:
    """scores: the cells that count; kv: all rows of the task, of which some depths are shown."""
    records = select(kv, metric="accuracy", protocol="records")
    at_depths = counted(records.dropna(subset="depth"))
    parts = {}
    for name, protocol in OF_CELLS.items():
        parts[name] = scores[scores["protocol"] == protocol]
    for name, depths in AT_DEPTHS.items():
        parts[name] = at_depths[at_depths["depth"].isin(depths)]
    line = {}
    for what, multiples in ACCURACIES.items():
        own = parts[what]
        for m in multiples:
            here = own[own["multiple"] == m]
            line[f"{what} {m}x"] = _mean(here)
    return line


def _mean(rows) -> float:
    """Returns the mean over seeds of the mean over depths."""
    of_seeds = rows.groupby("run")["value"].mean()
    return float(of_seeds.mean())


def _verdict(rows, retrieval, scores) -> str:
    trained = retrieval[retrieval["mark"] == "ok"]
    if (rows["mark"] == "diverged").all():
        return "diverged"
    if trained.empty:
        marks = retrieval["mark"].unique()
        return ", ".join(sorted(map(status_name, marks)))
    passed = trained["run"].nunique()
    seeds = retrieval["run"].nunique()
    some = f"{passed} of {seeds} seeds pass the gate; " if passed < seeds else ""
    if lost := len(diverged(rows)):
        some = f"{lost} of {rows['run'].nunique()} seeds diverged; {some}"
    records = scores[scores["protocol"] == "records"]
    means = records.groupby("multiple")["value"].mean()
    low = means[means < 0.5]
    if low.empty:
        return f"{some}never below .5"
    return f"{some}below .5 at {low.index.min():g}x"
