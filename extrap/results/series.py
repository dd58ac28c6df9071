"""Rows grouped into series: what one line of a figure or of a table shows, with its seeds as
replicates.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from extrap.results.rows import comparable
from extrap.results.stats.intervals import t_interval

MIXTURE = "mixture"
CONTROLS = {"text": "text only", "retrieval": "retrieval only"}
SHARES = ("accuracy", "restricted", "format", "substring", "recall", "handed", "all", "token")
"""Metrics that lie in [0, 1], and so do their intervals."""


@dataclass(frozen=True)
class Series:
    """Rows that share scheme, data, extension, settings and status; `label` is its name on paper,
    `condition` the place of its data among those of all rows, mixtures before controls.
    """

    scheme: str
    data: str
    extension: str
    status: str
    label: str
    rows: pd.DataFrame
    condition: int = 0

    @property
    def ok(self) -> bool:
        return self.status == "ok"


def status_name(status: str) -> str:
    """A status of rows in words: `not trained` says that a run lies below the gate of a task."""
    return {"not trained": "below the gate"}.get(status, status)


def select(rows: pd.DataFrame, seen: str = "", **columns: str) -> pd.DataFrame:
    """Rows with a value whose columns equal what is asked, from runs that were trained on `seen`
    ("text" or "retrieval").

    A control that never saw a task has nothing to say about it: its rows stay in the study, out of
    that task's figures.
    """
    keep = rows["value"].notna()
    for name, value in columns.items():
        keep &= rows[name] == value
    for control in CONTROLS:
        if seen in CONTROLS and control != seen:
            keep &= rows["data"] != control
    return rows[keep]


def where_known(rows: pd.DataFrame) -> pd.DataFrame:
    """Those of every run at its training length, or at the shortest where it was not asked for: a
    published model is looked into well within its context.
    """
    trained = rows["length"] == rows["train_length"]
    asked = trained.groupby(rows["run"]).transform("any")
    shortest = rows.groupby("run")["length"].transform("min")
    return rows[trained | (~asked & (rows["length"] == shortest))]


def series(rows: pd.DataFrame) -> list[Series]:
    """The series among rows of one corpus: trained ones first, controls after the mixtures, then by
    name.

    Seeds that did not train (`judged`) form a series of their own, so that no mean mixes them with
    trained ones. Runs that differ in nothing but other settings (another width, say) are told apart
    by the config hash in their names. Raises UserError for mixed corpora.
    """
    rows = comparable(rows).copy()
    rows["status"] = judged(rows)
    rows["factor"] = rows["factor"].fillna(1.0)
    # A factor that follows the length of the text is one method and no family of them.
    adaptive = (
        rows.groupby(["run", "extension", "task", "config"])["factor"].transform("nunique").gt(1)
    )
    rows.loc[adaptive, "factor"] = 1.0
    rows["settings"] = settings(rows)
    kind = ["scheme", "data", "extension", "factor", "train_length"]
    several = rows.groupby(kind)["settings"].transform("nunique").gt(1)
    rows.loc[~several, "settings"] = ""
    lengths = rows["train_length"].nunique()
    datasets = rows["data"].nunique()
    conditions = sorted(rows["data"].unique(), key=lambda data: (data in CONTROLS, data))
    found = []
    for key, group in rows.groupby([*kind, "settings"], sort=True):
        scheme, data, extension, factor, length, hashed = key
        for status, part in group.groupby("status"):
            kept = data if datasets > 1 or data in CONTROLS else MIXTURE
            name = _label(scheme, kept, extension, factor, hashed) + (
                f" L={length}" if lengths > 1 else ""
            )
            if status != "ok":
                name += f" – {status_name(str(status))}"
            if (trained := part["run"].nunique()) < (all_seeds := group["run"].nunique()):
                name += f" ({trained} of {all_seeds} seeds)"
            condition = conditions.index(data)
            found.append(Series(scheme, data, extension, str(status), name, part, condition))
    return sorted(
        found, key=lambda s: (not s.ok, s.data in CONTROLS, s.scheme, s.extension, s.label)
    )


def settings(rows: pd.DataFrame) -> pd.Series:
    """The config hash in the name of each row's run, the same for all of its seeds."""
    names = [
        run.removesuffix(f"-s{seed}").rsplit("-", 1)[-1]
        for run, seed in zip(rows["run"], rows["seed"], strict=True)
    ]
    return pd.Series(names, rows.index)


def told_apart(rows: pd.DataFrame, name: str, alike: list[str]) -> pd.Series:
    """The column `name`, with the config hash behind it where rows that agree in `alike` are of
    several settings: no mean is over two models.
    """
    hashed = settings(rows)
    same = [rows[column] for column in alike]
    several = hashed.groupby(same, dropna=False).transform("nunique").gt(1)
    return rows[name].mask(several, rows[name] + " [" + hashed + "]")


def judged(rows: pd.DataFrame) -> pd.Series:
    """The status of rows. `not trained` becomes `ok` where the plain reading of the same run, task
    and protocol is.

    A reader that finds nothing within the training length has lost what the run had learned, and
    that is its result: whether the run learned it is what its plain reading says. Where the rows
    hold none (runs that were tuned with an extension), the reader's own stays.
    """
    place = pd.MultiIndex.from_frame(rows[["run", "task", "protocol"]])
    learned = place[((rows["extension"] == "direct") & (rows["status"] == "ok")).to_numpy()]
    failed = (rows["extension"] == "direct") & (rows["status"] == "not trained")
    lost = (
        (rows["status"] == "not trained")
        & place.isin(learned)
        & ~place.isin(place[failed.to_numpy()])
    )
    return rows["status"].mask(lost, "ok")


def seeds(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    """Values as (by, seed): one column per run."""
    return rows.pivot(index=by, columns="run", values="value").sort_index()


def spread(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    """Mean over seeds with its 95 % interval, columns value, low, high, indexed by `by`; what is a
    share ends at 0 and 1.

    One seed keeps the interval of its rows (documents or trials); from three on it is Student's
    over the seeds and speaks about these documents and trials; two support none. Rows hold no
    items, so that the error of items, which extrap compare adds, is not to be had here.
    """
    table = seeds(rows, by)
    if table.shape[1] == 1:
        return rows.set_index(by)[["value", "low", "high"]].sort_index()
    ends = np.full((len(table), 2), np.nan)  # a frame filled by cells takes ten times as long
    for i, values in enumerate(table.to_numpy()):
        known = values[~np.isnan(values)]
        if len(known) >= 3:
            ends[i] = t_interval(known)
    if set(rows["metric"]) <= {*SHARES}:
        ends = ends.clip(0, 1)
    return pd.DataFrame({"value": table.mean(axis=1), "low": ends[:, 0], "high": ends[:, 1]})


def _label(scheme, data, extension, factor, hashed) -> str:
    label = scheme
    if extension != "direct":
        label += f" + {extension}" + (f" x{factor:g}" if factor != 1 else "")
    if data != MIXTURE:
        label += f" ({CONTROLS.get(data, data)})"
    return label + (f" [{hashed}]" if hashed else "")
