"""Rows grouped into series: what one line of a figure or of a table shows, with its seeds as
replicates.
"""

from bisect import bisect
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from extrap.results.rows import comparable
from extrap.results.stats.intervals import mean_over_seeds

MIXTURE = "mixture"
CONTROLS = {"text": "text only", "retrieval": "retrieval only"}
SHARES = ("accuracy", "restricted", "format", "substring", "recall", "handed", "all", "token")
"""Metrics that lie in [0, 1], and so do their intervals."""
ORDER: ContextVar[tuple[str, ...]] = ContextVar("order", default=())
"""Schemes and extensions that come first."""
ALIASES: ContextVar[Mapping[str, str]] = ContextVar("aliases", default=MappingProxyType({}))
"""{label: name} of schemes and extensions that a figure calls otherwise."""
ALIKE = 1.05
"""Models up to so many times as large as the smallest of their size have the same size: schemes of
one model differ by their own parameters.
"""


@dataclass(frozen=True)
class Series:
    """Rows that share scheme, data, extension, settings and status; `label` is its name on paper,
    `condition` the place of its data among the data of all rows, mixtures before controls.
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
    """Returns a status in words: `not trained` says that a run lies below the gate of a task."""
    return {"not trained": "below the gate"}.get(status, status)


def behind(names: pd.Series) -> pd.Series:
    """Returns schemes or extensions by name, where a figure calls them otherwise."""
    aliases = dict(ALIASES.get())
    return names.replace(aliases) if aliases else names


def called(name: str) -> str:
    """Returns what a figure calls a scheme or an extension."""
    labels = {own: label for label, own in ALIASES.get().items()}
    return labels.get(name, name)


def select(rows: pd.DataFrame, seen: str = "", **columns) -> pd.DataFrame:
    """Returns the rows with a value that have these values of columns, of runs that were trained on
    `seen` ("text" or "retrieval").

    A control that never saw a task has nothing to say about it: its rows stay in the study, out of
    that task's figures.
    """
    keep = rows["value"].notna()
    for name, value in columns.items():
        keep &= rows[name] == value
    if seen in CONTROLS:
        others = {*CONTROLS} - {seen}
        keep &= ~rows["data"].isin(others)
    return rows[keep]


def where_known(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of every run at its training length, or at its shortest one: a published
    model is looked into well within its context.
    """
    trained = rows["length"] == rows["train_length"]
    known = trained.groupby(rows["run"]).transform("any")
    least = rows.groupby("run")["length"].transform("min")
    shortest = rows["length"] == least
    return rows[trained | (~known & shortest)]


def series(rows: pd.DataFrame) -> list[Series]:
    """Returns the series among rows of one corpus: trained ones first, controls after the mixtures,
    then by name.

    Seeds that did not train (`judged`) form a series of their own, so that no mean mixes them with
    trained ones. The config hash in their names tells runs apart that differ in other settings
    alone (another width, say). Raises UserError for mixed corpora.
    """
    rows = comparable(rows).copy(deep=False)  # its columns are replaced, none is written to
    rows["status"] = judged(rows)
    rows["factor"] = one_factor(rows)
    kind = ["scheme", "data", "extension", "factor", "train_length"]
    rows["settings"] = told_apart(rows, kind)
    lengths = rows["train_length"].nunique()
    conditions = sorted(rows["data"].unique(), key=lambda data: (data in CONTROLS, data))
    found = []
    key: tuple[Any, ...]
    for key, group in rows.groupby([*kind, "settings"], sort=True):
        scheme, data, extension, factor, length, hashed = key
        label = scheme
        if extension != "direct":
            label += f" + {extension}"
        if extension != "direct" and factor != 1:
            label += f" x{factor:g}"
        of_several = len(conditions) > 1 and data != MIXTURE
        if data in CONTROLS or of_several:
            label += f" ({CONTROLS.get(data, data)})"
        label += hashed
        if lengths > 1:
            label += f" L={length}"
        every = group["run"].nunique()
        condition = conditions.index(data)
        for status, part in group.groupby("status"):
            name = label if status == "ok" else f"{label} – {status_name(str(status))}"
            seeds = part["run"].nunique()
            if seeds < every:
                name += f" ({seeds} of {every} seeds)"
            found.append(Series(scheme, data, extension, str(status), name, part, condition))
    first = ORDER.get()

    def rank(s: Series) -> int:
        named = [first.index(name) for name in (s.scheme, s.extension) if name in first]
        return min(named, default=len(first))

    def place(s: Series) -> tuple:
        return rank(s), not s.ok, s.data in CONTROLS, s.scheme, s.extension, s.label

    return sorted(found, key=place)


def whole(rows: pd.DataFrame) -> list[Series]:
    """Returns the series with all of their seeds, below the gate or not: the column `mark` holds
    what `judged` says of a row. Raises UserError for mixed corpora.
    """
    marked = rows.assign(mark=judged(rows), status="ok")
    return series(marked)


def sizes(found: Sequence[Series]) -> dict[str, int]:
    """Returns the parameters of the smallest model of the size of each series by its label, 0 if
    unknown.
    """
    own = {}
    for s in found:
        params = s.rows["params"].dropna()
        own[s.label] = int(params.max()) if len(params) else 0
    smallest: list[int] = []
    for count in sorted(set(own.values())):
        if not smallest or count > ALIKE * smallest[-1]:
            smallest.append(count)
    groups = {}
    for label, count in own.items():
        group = bisect(smallest, count) - 1
        groups[label] = smallest[group]
    return groups


def one_factor(rows: pd.DataFrame) -> pd.Series:
    """Returns the factor of each row's method: 1 without a factor, and 1 if the factor follows the
    length of the text, so that the method is one series.
    """
    factor = rows["factor"].fillna(1.0)
    place = [rows[name] for name in ("run", "extension", "task", "config")]
    several = factor.groupby(place).transform("nunique").gt(1)
    return factor.mask(several, 1.0)


def setting(run: str, seed: int) -> str:
    """Returns the config hash in the name of a run."""
    return run.removesuffix(f"-s{seed}").rsplit("-", 1)[-1]


def settings(rows: pd.DataFrame) -> pd.Series:
    """Returns the config hash in the name of each row's run, the same for all of its seeds."""
    groups = rows[["run", "seed"]].groupby(["run", "seed"], sort=False, dropna=False)
    first = groups.head(1)  # one row of each run: a study may have ten thousand
    runs = first["run"].to_numpy(object)  # each text of a column by itself takes a microsecond
    names = [setting(run, seed) for run, seed in zip(runs, first["seed"], strict=True)]
    of_rows = pd.Series(names).iloc[groups.ngroup()]
    return of_rows.set_axis(rows.index)


def told_apart(rows: pd.DataFrame, alike: list[str]) -> pd.Series:
    """Returns the end of each row's name: its config hash in brackets where rows that agree in
    `alike` have several settings, else nothing. No mean is over two models.
    """
    hashed = settings(rows)
    same = [rows[column] for column in alike]
    counts = hashed.groupby(same, dropna=False).transform("nunique")
    words = " [" + hashed + "]"
    return words.where(counts.gt(1), "")


def steps(rows: pd.DataFrame) -> str:
    """Returns `trained for 20 to 1500 steps` if runs of one study trained for different numbers of
    steps, as far as their curves tell; else nothing. A curve ends less than one of its intervals
    before its run does.
    """
    measured = _curve(rows)[["study", "run", "at"]]
    points = measured.drop_duplicates().sort_values("at")
    points["apart"] = points.groupby("run")["at"].diff().fillna(0.0)
    ends = points.groupby(["study", "run"]).tail(1)
    ends = ends.assign(most=ends["at"] + ends["apart"])
    for _, part in ends.groupby("study"):
        least = part["at"].min()
        most = part["at"].max()
        if most > part["most"].min():
            return f"trained for {least:g} to {most:g} steps"
    return ""


def span_of_steps(rows: pd.DataFrame) -> tuple[float, float]:
    """Returns the least and the greatest number of steps of training; 0 if no curve tells."""
    last = _curve(rows).groupby("run")["at"].max()
    if last.empty:
        return 0.0, 0.0
    return float(last.min()), float(last.max())


def _curve(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the points of the curves of training."""
    training = rows["task"] == "train"
    return rows[training & (rows["axis"] == "step")]


def judged(rows: pd.DataFrame) -> pd.Series:
    """Returns the status of rows: `not trained` becomes `ok` where the plain reading of the same
    run, task and protocol is ok.

    If the plain model passes the gate and the extended one does not, the extension lost what the
    run had learned: the row counts as `ok`, with its low value. Rows without a plain reading (runs
    that were tuned with an extension) keep their own status.
    """
    place = pd.MultiIndex.from_frame(rows[["run", "task", "protocol"]])
    plain = (rows["extension"] == "direct").to_numpy()
    passes = (rows["status"] == "ok").to_numpy()
    misses = (rows["status"] == "not trained").to_numpy()
    learned = place.isin(place[plain & passes])
    failed = place.isin(place[plain & misses])
    elsewhere = learned & ~failed & misses
    return rows["status"].mask(elsewhere, "ok")


def diverged(rows: pd.DataFrame) -> set[str]:
    """Returns the runs whose training diverged, of which nothing else is known."""
    return {*rows.loc[rows["metric"] == "diverged_at", "run"]}


def seeds(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    """Returns values as (by, seed): one column per run."""
    table = rows.pivot(index=by, columns="run", values="value")
    return table.sort_index()


def spread(rows: pd.DataFrame, by: str, table: pd.DataFrame | None = None) -> pd.DataFrame:
    """Returns the mean over seeds with its 95 % interval, columns value, low, high, by `by`.

    One seed keeps the interval of its rows (documents or trials). From three on it is Student's
    over the seeds and speaks about these documents and trials: rows hold no items, whose error
    extrap compare adds. Two seeds have none. Intervals of shares end at 0 and 1. table: `seeds` of
    these rows, where the caller has it.
    """
    columns = ["value", "low", "high"]
    table = seeds(rows, by) if table is None else table
    if table.shape[1] == 1:
        return rows.set_index(by)[columns].sort_index()
    shares = {*rows["metric"].unique()} <= {*SHARES}
    within = (0, 1) if shares else (-np.inf, np.inf)
    means = []
    for _, line in table.iterrows():
        means.append(mean_over_seeds(line.dropna(), within))
    return pd.DataFrame(means, table.index, columns, float)
