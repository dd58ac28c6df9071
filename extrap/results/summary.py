"""The study in tables: perplexity and retrieval side by side, because a flat perplexity is no
retrieval; the same minus a baseline; and the gates of all tasks.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from extrap.results.effective import NOTHING, effective_lengths
from extrap.results.series import judged, select, series, spread, status_name
from extrap.utils.errors import UserError

PARTS = ("text", "retrieval")
PROTOCOLS, FAR = ("nonoverlap", "last_segment"), (1, 2, 4, 16)
ACCURACIES = {"mean": (1, 2, 4), "middle": (1, 2, 4), "ends": (1, 2, 4), "padded": (2, 4)}
BENT = (0.25, 0.5, 0.75, 1, 2, 4, 8)
BASELINE = {"loss": "trained retrieval", "accuracy": "mean 1x"}
"""Columns of `against`, and those of `summary` that they come from."""


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """One line per series, indexed by label, with columns

    seeds, steps_to_90, last points of the training loss in nats per token ("trained text"),
    perplexities ("nonoverlap 4x"), accuracies ("mean 4x", "middle 4x", "ends 4x", "padded 4x"),
    verdict.

    Values are means over seeds; steps where all of them come to 90 %, accuracies over the seeds
    that trained, if any did. `mean` over
    depths, `middle` at depth .5, `ends` the mean of depths 0 and 1 are of protocol records; at 1x
    the mean is what the gate looks at. Raises UserError for mixed corpora.
    """
    lines = {}
    for s in series(rows.assign(mark=judged(rows), status="ok")):
        multiples = s.rows["length"] / s.rows["train_length"]
        lines[s.label] = _line(s.rows.assign(status=s.rows["mark"], multiple=multiples))
    return pd.DataFrame.from_dict(lines, orient="index")


def reach(rows: pd.DataFrame) -> pd.DataFrame:
    """The `Effective` length of every series, a line each, in every task and protocol that has one,
    a column each ("kv records"); of the seeds that pass the gate. Raises UserError for mixed
    corpora.
    """
    lines = {}
    for s in series(rows.assign(mark=judged(rows), status="ok")):
        found = effective_lengths(replace(s, rows=s.rows.assign(status=s.rows["mark"])))
        if found:
            lines[s.label] = {" ".join(place): length for place, length in found.items()}
    columns = sorted({place for line in lines.values() for place in line})
    out = pd.DataFrame(index=list(lines), columns=columns, dtype=object)
    for label, line in lines.items():
        for place in columns:
            out.at[label, place] = line.get(place, NOTHING)
    return out


def against(rows: pd.DataFrame, scheme: str) -> pd.DataFrame:
    """One line per series, best accuracy first, indexed by label: retrieval at the end of training
    (`loss`, nats per token) and at the training length (`accuracy`), and both minus those of a
    baseline scheme (`loss +`, `accuracy +`) that was trained and read in the same way; NaN where it
    was not. A scheme whose hook is dead ends where `nope` ends.

    Raises UserError where the study has no run of that scheme.
    """
    found = series(rows.assign(status="ok"))
    table = summary(rows)
    names = sorted({s.scheme for s in found})
    if scheme not in names:
        raise UserError(
            "--beside", scheme, f"not among the schemes of this study: {', '.join(names)}"
        )
    keys = list(BASELINE.values())
    lines = {}
    for s in found:
        own = table.loc[s.label, keys]
        base = table.reindex([s.label.replace(s.scheme, scheme, 1)])[keys].iloc[0]
        lines[s.label] = {name: own[key] for name, key in BASELINE.items()} | {
            f"{name} +": own[key] - base[key] for name, key in BASELINE.items()
        }
    return pd.DataFrame.from_dict(lines, orient="index").sort_values(
        ["accuracy", "loss"], ascending=[False, True]
    )


def gates(rows: pd.DataFrame) -> pd.DataFrame:
    """The gate of every task, the mean accuracy within the training length, as text: a line for
    each task and protocol that has one, a column for each series.

    `.97`: all seeds have 0.9 or more; `.94 2/3`: two of three have. Of plain readings, means over
    seeds. Raises UserError for mixed corpora.
    """
    found = select(rows, metric="gate", extension="direct")
    found = found.assign(passed=found["status"] == "ok", status="ok")
    table: dict[str, dict[str, str]] = {}
    for s in series(found) if len(found) else ():
        for (task, protocol), part in s.rows.groupby(["task", "protocol"]):
            mean = f"{part['value'].mean():.2f}".removeprefix("0")
            passed = int(part["passed"].sum())
            text = mean if passed == len(part) else f"{mean} {passed}/{len(part)}"
            table.setdefault(f"{task} {protocol}", {})[s.label] = text
    return pd.DataFrame.from_dict(table, orient="index").fillna("-")


def _line(rows: pd.DataFrame) -> dict:
    steps = select(rows, task="train", metric="steps_to_90")["value"]
    seeds = rows["run"].nunique()
    # the mean of those that came there would praise what seldom does
    line = {"seeds": seeds, "steps_to_90": steps.mean() if len(steps) == seeds else np.nan}
    curve = select(rows, task="train", axis="step", metric="nll")
    for part in PARTS:
        own = curve[curve["protocol"] == part]
        last = own["at"] == own.groupby("run")["at"].transform("max")
        line[f"trained {part}"] = own.loc[last, "value"].mean()
    losses = select(rows, seen="text", task="nll", metric="nll")
    for protocol in PROTOCOLS:
        for m in FAR:
            line[f"{protocol} {m}x"] = np.exp(
                _mean(losses[(losses["protocol"] == protocol) & (losses["multiple"] == m)])
            )
    retrieval = select(rows, seen="retrieval", task="kv")
    trained = retrieval[retrieval["status"] == "ok"]
    shown = trained if len(trained) else retrieval
    cells = select(shown, metric="accuracy").dropna(subset="depth")
    records = cells[cells["protocol"] == "records"]
    padded = cells[cells["protocol"] == "padded"]
    parts = {
        "mean": records,
        "middle": records[records["depth"] == 0.5],
        "ends": records[records["depth"].isin((0, 1))],
        "padded": padded,
    }
    for what, part in parts.items():
        for m in ACCURACIES[what]:
            line[f"{what} {m}x"] = _mean(part[part["multiple"] == m])
    return line | {"verdict": _verdict(rows, retrieval, trained, records)}


def _mean(rows) -> float:
    """Mean over seeds of the mean over depths."""
    return float(rows.groupby("run")["value"].mean().mean())


def _verdict(rows, retrieval, trained, records) -> str:
    if (rows["status"] == "diverged").all():
        return "diverged"
    if trained.empty:
        return ", ".join(sorted(status_name(status) for status in retrieval["status"].unique()))
    words = []
    passed = trained["run"].nunique()
    seeds = retrieval["run"].nunique()
    if passed < seeds:
        words.append(f"{passed} of {seeds} seeds pass the gate")
    if bent := _bent(trained):
        words.append("U at " + ", ".join(f"{m:g}x" for m in bent))
    means = records.groupby("multiple")["value"].mean()
    lost = means[means < 0.5]
    return "; ".join(
        [*words, f"below .5 at {lost.index.min():g}x" if len(lost) else "never below .5"]
    )


def _bent(rows) -> list[float]:
    """Powers of two times L at which records are lost in the middle: primacy and recency both have
    intervals above 0.
    """
    lows = [
        spread(select(rows, protocol="records", metric=metric), "multiple")["low"]
        for metric in ("primacy", "recency")
    ]
    above = pd.concat(lows, axis=1).gt(0).all(axis=1)
    return [float(m) for m in above.index[above] if m in BENT]
