"""What runs have learned: the gate of every task, which is the mean accuracy within the training length, by series."""

import pandas as pd

from extrap.results.series import select, series


def gates(rows: pd.DataFrame) -> pd.DataFrame:
    """Text, a line for each task and protocol with a gate, a column for each series: the mean over seeds, and how many of them pass.

    `.97`: all seeds have 0.9 or more; `.94 2/3`: two of three have. Of plain readings. Raises UserError for mixed corpora.
    """
    found = select(rows, metric="gate", extension="direct")
    found = found.assign(passed=found["status"] == "ok", status="ok")
    table: dict[str, dict[str, str]] = {}
    for s in series(found) if len(found) else ():
        for (task, protocol), part in s.rows.groupby(["task", "protocol"]):
            table.setdefault(f"{task} {protocol}", {})[s.label] = _said(part)
    return pd.DataFrame.from_dict(table, orient="index").fillna("-")


def _said(part: pd.DataFrame) -> str:
    mean, passed = f"{part['value'].mean():.2f}".removeprefix("0"), int(part["passed"].sum())
    return mean if passed == len(part) else f"{mean} {passed}/{len(part)}"
