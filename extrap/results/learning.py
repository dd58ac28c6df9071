"""Who learns retrieval, how fast, and how far: one line for each scheme of a study."""

import pandas as pd

from extrap.results.series import select

MULTIPLES = (1, 2, 4, 8)


def learning(rows: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds, by scheme, of plain readings.

    seeds      number of seeds
    passed     seeds that reach the gate
    arrived    seeds with nine right answers in ten at some step of training
    steps      mean of this step over the seeds that arrived; NaN without one
    1 ... 8    accuracy of the records protocol at this multiple of the training length, mean over
               depths
    least      accuracy of the worst depth at the training length
    """
    kv = select(rows, task="kv", metric="accuracy", protocol="records", extension="direct")
    kv = kv[kv["depth"].notna()]
    gates = select(rows, task="kv", metric="gate", protocol="records", extension="direct")
    steps = select(rows, task="train", protocol="retrieval", metric="steps_to_90")
    multiple = kv["length"] / kv["train_length"]
    table = pd.DataFrame(
        {
            "seeds": gates.groupby("scheme")["run"].nunique(),
            "passed": (gates["status"] == "ok").groupby(gates["scheme"]).sum(),
            "arrived": steps.groupby("scheme")["value"].count(),
            "steps": steps.groupby("scheme")["value"].mean(),
        }
    )
    for m in MULTIPLES:
        table[m] = kv[multiple == m].groupby("scheme")["value"].mean()
    at_depth = kv[multiple == 1].groupby(["scheme", "depth"])["value"].mean()
    return table.assign(least=at_depth.groupby("scheme").min())
