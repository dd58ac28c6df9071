"""Every series of a study beside one of them: a scheme whose hook is dead ends where `nope` ends."""

import pandas as pd

from extrap.utils.errors import UserError
from extrap.results.series import series
from extrap.results.summary import summary

COLUMNS = {"loss": "trained retrieval", "accuracy": "mean 1x"}


def beside(rows: pd.DataFrame, scheme: str) -> pd.DataFrame:
    """One line per series, best accuracy first, indexed by label, with columns

    loss, accuracy          of retrieval: at the end of training in nats per token, and the mean over depths at the training length
    loss +, accuracy +      the same minus that of `scheme`, trained and read in the same way; NaN where it was not

    Values are those of `summary`. Raises UserError where the study has no run of that scheme.
    """
    found, table = series(rows.assign(status="ok")), summary(rows)
    if scheme not in {s.scheme for s in found}:
        raise UserError(f"--beside {scheme}: not among the schemes of this study: {', '.join(sorted({s.scheme for s in found}))}")
    lines = {}
    for s in found:
        mine = table.loc[s.label, list(COLUMNS.values())]
        other = table.reindex([s.label.replace(s.scheme, scheme, 1)])[list(COLUMNS.values())].iloc[0]
        lines[s.label] = {name: mine[key] for name, key in COLUMNS.items()} | {f"{n} +": mine[k] - other[k] for n, k in COLUMNS.items()}
    return pd.DataFrame.from_dict(lines, orient="index").sort_values(["accuracy", "loss"], ascending=[False, True])
