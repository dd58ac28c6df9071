"""A study as a dashboard shows it, made from the rows on this disk: a page for each job, and the
series of its tables and figures, with their means and intervals, as one table that a chart draws.
"""

import math
from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from typing import Any

from extrap.figures.drawing import part
from extrap.figures.drawing.palette import colour_and_marker
from extrap.figures.report.leaderboard import score
from extrap.figures.report.views import View, views
from extrap.results import rows
from extrap.results.effective import effective_lengths
from extrap.results.ranking import FURTHEST, Score
from extrap.results.series import Series, select, whole
from extrap.results.sheets import Sheet
from extrap.results.together import labelled
from extrap.runs.dashboard.page import Page
from extrap.runs.folder import read_json
from extrap.runs.layout import CURVE, DIRECT
from extrap.runs.study import Entry, entries

COLUMNS = (
    "series", "colour", "part", "gate", "kind", "task", "protocol", "metric", "at", "x", "mean",
    "low", "high", "seeds", "bound",
)  # fmt: skip
"""Columns of the table. part: the model size or training length that a study shows apart; gate:
PASSED or BELOW; kind: length (x in tokens), depth (x from 0 to 1, read at `at` tokens) or effective
(mean in tokens, x is 0); metric: losses are perplexities; seeds: how many the mean is over; bound:
>= at an effective length that ends with the longest text, else empty.
"""
DRAWN = 120
"""Series up to which the page of a study has figures. Nobody tells more lines or panels apart, and
drawing them takes minutes; the charts of the workspace draw all.
"""
PASSED, BELOW = "passed", "below the gate"
ALIKE = 1.05
"""Models up to so many times as large as the smallest of their size have the same size: schemes of
one model differ by their own parameters.
"""
Rows = list[dict[str, Any]]
Files = dict[Sheet, Rows]
Jobs = list[tuple[Entry, dict[str, Rows]]]
"""Jobs with their rows by task."""


@dataclass(frozen=True)
class Study:
    """A study as a dashboard shows it: a page for each job, and one table of series.

    Args:
        records, sheets: of all rows
        pages: of each job the page and its rows by task
        parts: by label of a series, the part that shows it
        lines: of the table
        best: by label, the values that series are ranked by
        place: task and protocol of these
    """

    name: str
    records: Rows
    sheets: list[Sheet]
    pages: list[tuple[Page, dict[str, Rows]]]
    series: list[Series]
    parts: Mapping[str, str]
    lines: Rows
    best: Mapping[str, Mapping[str, float]]
    place: tuple[str, str] | None

    @property
    def names(self) -> list[str]:
        """The names of the studies."""
        return sorted({str(row["study"]) for row in self.records})

    @property
    def jobs(self) -> list[Page]:
        return [page for page, _ in self.pages]

    @property
    def colours(self) -> dict[str, str]:
        return {s.label: colour(s) for s in self.series}

    @property
    def ranked(self) -> list[str]:
        """The names of the values that series are ranked by."""
        return list(dict.fromkeys(chain.from_iterable(self.best.values())))

    @property
    def table(self) -> list[tuple]:
        return [tuple(line.values()) for line in self.lines]

    @property
    def page(self) -> Page:
        """The page of the study itself."""
        schemes = {row["scheme"] for row in self.records}
        return Page(
            study=self.name,
            run=f"study-{self.name}",
            extension=DIRECT,
            scheme=", ".join(sorted(schemes)),
            data="all",
            seed=0,
            train_length=min(row["train_length"] for row in self.records),
            tasks=(),
            job_type="study",
        )


def read(*studies: str, series: Sequence[str] = ()) -> Study:
    """Reads the rows of studies, from which alone their pages and lines follow: means over seeds
    with the intervals of the tables; seeds below the gate of a task have lines of their own.
    series: names of series or schemes, by default all. Raises UserError without rows and for rows
    that cannot be compared.
    """
    files, jobs = _on_disk(studies)
    if not jobs:
        raise rows.no_rows(", ".join(studies))
    if series:
        files, jobs = _chosen(files, jobs, series)
    records = list(chain.from_iterable(files.values()))
    found = whole(labelled(rows.frame(records)))
    for s in found:
        for at, mark in s.rows["mark"].items():
            records[at] |= {"series": s.label, "mark": mark}
    sizes = _sizes(found)
    parts = _parts(found, sizes)
    lines, shown = _lines(found, parts)
    of = score(shown)
    losses = (view for view in shown if view.kind == "length" and view.loss)
    scores = [view for view in (of, next(losses, None)) if view]
    ranked = list(dict.fromkeys((v.task, v.protocol, _metric(v)) for v in scores))
    best = {s.label: _best(s, lines, ranked) for s in found}
    pages = [(_page(entry, own, sizes, best), own) for entry, own in jobs]
    place = (of.task, of.protocol) if of else None
    return Study("-".join(studies), records, [*files], pages, found, parts, lines, best, place)


def _on_disk(studies: Sequence[str]) -> tuple[Files, Jobs]:
    """Returns the files of studies, and the jobs that have rows in them."""
    files: Files = {}  # the curve of a run is one file for several jobs
    jobs: Jobs = []
    for entry in chain.from_iterable(map(entries, studies)):
        own: dict[str, Rows] = {}
        for task in sorted(entry.tasks, key=lambda task: task != CURVE):  # W&B: steps in order
            file = entry.file(task).sheet
            if file not in files and file.exists():
                files[file] = file.records()
            if file in files:
                own[task] = files[file]
        if any(own.values()):
            jobs.append((entry, own))
    return files, jobs


def _chosen(files: Files, jobs: Jobs, series: Sequence[str]) -> tuple[Files, Jobs]:
    """Returns the files and jobs of some series alone."""
    records = list(chain.from_iterable(files.values()))
    kept = part.Part(tuple(series)).of_study(rows.frame(records)).index
    shown = {id(records[at]) for at in kept}

    def of_series(some: Rows) -> Rows:
        return [row for row in some if id(row) in shown]

    left: Jobs = []
    for entry, own in jobs:
        chosen = {task: of_series(some) for task, some in own.items()}
        if any(chosen.values()):
            left.append((entry, chosen))
    return {file: of_series(some) for file, some in files.items()}, left


def _page(entry: Entry, own: Mapping[str, Rows], sizes: Mapping, best: Mapping) -> Page:
    """Returns the page as the job itself makes it, as far as the rows know, under the names that
    the study gives.
    """
    *_, last = chain.from_iterable(own.values())  # the curve comes first
    label = last["series"]
    tasks = tuple(task for task in own if task != CURVE)
    return Page(
        study=entry.study,
        run=entry.run,
        extension=entry.extension,
        scheme=last["scheme"],
        data=last["data"],
        seed=last["seed"],
        train_length=last["train_length"],
        tasks=tasks,
        options=read_json(entry.folder.folder / "config.json").get("identity") or {},
        series=label,
        size=sizes[label],
        trained={task: _passed(own[task]) for task in tasks},
        best=best[label],
    )


def _passed(some: Rows) -> bool:
    return all(row["mark"] == "ok" for row in some)


def colour(s: Series) -> str:
    """Returns the colour of the extension of a series in the figures, else of its scheme."""
    if s.extension == "direct":
        return colour_and_marker(s.scheme)[0]
    return colour_and_marker(s.extension.partition(",")[0], "extension")[0]


def _lines(found: Sequence[Series], parts: Mapping[str, str]) -> tuple[Rows, list[View]]:
    """Returns the lines of the table, and the views that they belong to."""
    lines: Rows = []
    shown: list[View] = []
    for gate in (PASSED, BELOW):
        for view in views([_at_gate(s, gate) for s in found]):
            shown.append(view)
            of_view = {
                "gate": gate,
                "kind": view.kind,
                "task": view.task,
                "protocol": view.protocol,
                "metric": _metric(view),
                "at": view.length,
            }
            for p in view.points.itertuples():
                s = found[p.series]
                of_point = {"x": p.x, "mean": p.value, "low": p.low, "high": p.high}
                lines.append(_line(s, parts, **of_view, **of_point, seeds=p.seeds))
    for s in found:
        lines += [_line(s, parts, **values) for values in _effective(s)]
    return lines, shown


def _at_gate(s: Series, gate: str) -> Series:
    """Returns a series with its seeds above the gate of a task alone, or with those below."""
    passed = s.rows["mark"] == "ok"
    return replace(s, rows=s.rows[passed if gate == PASSED else ~passed])


def _line(s: Series, parts: Mapping[str, str], **values: Any) -> dict[str, Any]:
    """Returns a line of the table, with None for numbers that are not finite."""
    line = dict.fromkeys(COLUMNS, "")
    line |= {"series": s.label, "colour": colour(s), "part": parts[s.label], **values}
    for name, value in line.items():
        if isinstance(value, float) and not math.isfinite(value):
            line[name] = None
    return line


def _metric(of: View | Score) -> str:
    """Returns the metric of a view as it is shown: losses as perplexities."""
    return "perplexity" if of.metric == "nll" else of.metric


def _effective(s: Series) -> Iterator[dict[str, Any]]:
    """Yields the effective lengths of a series, as values of a line."""
    for (task, protocol), length in effective_lengths(s).items():
        own = select(s.rows, task=task, protocol=protocol, mark="ok")
        yield {
            "gate": PASSED,
            "kind": "effective",
            "task": task,
            "protocol": protocol,
            "metric": "effective length",
            "at": None,
            "x": 0.0,
            "mean": float(length.tokens),
            "low": float(length.low),
            "high": float(length.high),
            "seeds": own["run"].nunique(),
            "bound": ">=" * length.least,
        }


def _sizes(found: Sequence[Series]) -> dict[str, int]:
    """Returns the parameters of the smallest model of the size of each series, 0 if unknown."""
    own = {s.label: int(s.rows["params"].dropna().max() or 0) for s in found}
    smallest: list[int] = []
    for count in sorted(set(own.values())):
        if not smallest or count > ALIKE * smallest[-1]:
            smallest.append(count)
    return {label: smallest[bisect(smallest, count) - 1] for label, count in own.items()}


def _parts(found: Sequence[Series], sizes: Mapping[str, int]) -> dict[str, str]:
    """Returns the size of each series if they differ, and its training length if they differ."""
    lengths = {s.label: int(s.rows["train_length"].iloc[0]) for s in found}
    alike: dict[tuple, set[int]] = {}
    for s in found:
        alike.setdefault((s.scheme, s.data, s.extension), set()).add(sizes[s.label])
    several_sizes = any(len(own) > 1 for own in alike.values())
    several_lengths = len(set(lengths.values())) > 1
    parts = {}
    for label in sorted(lengths, key=lambda label: (sizes[label], lengths[label])):
        words = []
        if several_sizes:
            words.append(f"{sizes[label]:,} parameters")
        if several_lengths:
            words.append(f"L = {lengths[label]}")
        parts[label] = ", ".join(words)
    return parts


def _best(s: Series, lines: Rows, ranked: Sequence[tuple[str, str, str]]) -> dict[str, float]:
    """Returns the values that a series is ranked by, and counts. ranked: task, protocol and metric
    of scores at FURTHEST times L.
    """
    far = FURTHEST * int(s.rows["train_length"].iloc[0])
    first = ranked[0] if ranked else ("", "", "")
    places = {"effective length": ("effective", *first[:2], "effective length", 0.0)}
    for place in ranked:
        places[f"{place[-1]} at {FURTHEST} L"] = ("length", *place, far)
    own = [line for line in lines if line["series"] == s.label]
    place_of = itemgetter("kind", "task", "protocol", "metric", "x")
    means = {}
    for line in reversed(own):  # trained seeds come first, so that their mean is the last to be put
        if line["kind"] != "depth" and line["mean"] is not None:
            means[place_of(line)] = line["mean"]
    best = {name: means[place] for name, place in places.items() if place in means}
    below = s.rows[(s.rows["mark"] != "ok") & (s.rows["task"] == first[0])]
    best |= {"seeds": s.rows["run"].nunique(), BELOW: below["run"].nunique()}
    if len(params := s.rows["params"].dropna()):
        best["parameters"] = int(params.iloc[0])
    if any(line["bound"] == ">=" for line in own):
        best["effective length is a lower bound"] = 1
    return best
