"""The study as one table: perplexity and retrieval side by side, because a flat perplexity is no retrieval."""

import numpy as np
import pandas as pd

from extrap.results.series import judged, select, series, spread

PARTS = ("text", "retrieval")
PROTOCOLS, FAR = ("nonoverlap", "last_segment"), (1, 2, 4, 16)
ACCURACIES = {"mean": (1, 2, 4), "middle": (1, 2, 4), "ends": (1, 2, 4), "padded": (2, 4)}
BENT = (1, 2, 4, 8)


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """One line per series, indexed by label, with columns

    seeds, steps_to_90, last points of the training loss in nats per token ("trained text"), perplexities ("nonoverlap 4x"),
    accuracies ("mean 4x", "middle 4x", "ends 4x", "padded 4x"), verdict.

    Values are means over seeds; accuracies over the seeds that trained, if any did. `mean` over depths, `middle` at depth .5, `ends`
    the mean of depths 0 and 1 are of protocol records; at 1x the mean is what the gate looks at. Raises UserError for mixed corpora.
    """
    found = series(rows.assign(mark=judged(rows), status="ok"))
    lines = {s.label: _line(s.rows.assign(status=s.rows["mark"], multiple=s.rows["length"] / s.rows["train_length"])) for s in found}
    return pd.DataFrame.from_dict(lines, orient="index")


def _line(rows: pd.DataFrame) -> dict:
    steps = select(rows, task="train", metric="steps_to_90")["value"]
    line = {"seeds": rows["run"].nunique(), "steps_to_90": steps.mean()}
    curve = select(rows, task="train", axis="step", metric="nll")
    for part in PARTS:
        line[f"trained {part}"] = curve[(curve["protocol"] == part) & (curve["at"] == curve["at"].max())]["value"].mean()
    losses = select(rows, seen="text", task="nll", metric="nll")
    for protocol in PROTOCOLS:
        for m in FAR:
            line[f"{protocol} {m}x"] = np.exp(_mean(losses[(losses["protocol"] == protocol) & (losses["multiple"] == m)]))
    retrieval = select(rows, seen="retrieval", task="kv")
    trained = retrieval[retrieval["status"] == "ok"]
    shown = trained if len(trained) else retrieval
    cells = select(shown, metric="accuracy").dropna(subset="depth")
    records, padded = cells[cells["protocol"] == "records"], cells[cells["protocol"] == "padded"]
    parts = {"mean": records, "middle": records[records["depth"] == 0.5], "ends": records[records["depth"].isin((0, 1))], "padded": padded}
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
        return ", ".join(sorted(retrieval["status"].unique()))
    said = []
    if (n := trained["run"].nunique()) < (seeds := retrieval["run"].nunique()):
        said.append(f"{n} of {seeds} seeds trained")
    if bent := _bent(trained):
        said.append("U at " + ", ".join(f"{m:g}x" for m in bent))
    means = records.groupby("multiple")["value"].mean()
    lost = means[means < 0.5]
    return "; ".join([*said, f"below .5 at {lost.index.min():g}x" if len(lost) else "never below .5"])


def _bent(rows) -> list[float]:
    """Powers of two times L at which records are lost in the middle: primacy and recency both have intervals above 0."""
    lows = [spread(select(rows, protocol="records", metric=metric), "multiple")["low"] for metric in ("primacy", "recency")]
    above = pd.concat(lows, axis=1).gt(0).all(axis=1)
    return [float(m) for m in above.index[above] if m in BENT]
