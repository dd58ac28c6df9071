"""A study as a dashboard shows it, made from the rows on this disk: a page for each job, and the
series of its tables and figures, with their means and intervals, as one table that a chart draws.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    records: list[dict]
    sheets: list[Sheet]
    pages: list[tuple[Page, dict[str, list[dict]]]]
    series: list[Series]
    parts: Mapping[str, str]
    lines: list[dict[str, Any]]
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
    def table(self) -> list[tuple]:
        return [tuple(line.values()) for line in self.lines]

    @property
    def page(self) -> Page:
        """The page of the study itself."""
        schemes, lengths = ({r[name] for r in self.records} for name in ("scheme", "train_length"))
        names = self.name, f"study-{self.name}", DIRECT, ", ".join(sorted(schemes)), "all"
        return Page(*names, 0, min(lengths), (), job_type="study")


def read(*studies: str, series: Sequence[str] = ()) -> Study:
    """Reads the rows of studies, from which alone their pages and lines follow: means over seeds
    with the intervals of the tables; seeds below the gate of a task have lines of their own.
    series: names of series or schemes, by default all. Raises UserError without rows and for rows
    that cannot be compared.
    """
    files: dict[Sheet, list[dict]] = {}  # the curve of a run is one file for several jobs
    jobs = []
    for entry in (one for study in studies for one in entries(study)):
        tasks = sorted(entry.tasks, key=lambda task: task != CURVE)  # W&B takes steps in order only
        own = {task: file for task in tasks if (file := entry.file(task).sheet).exists()}
        files |= {file: file.records() for file in own.values() if file not in files}
        if any(files[file] for file in own.values()):
            jobs.append((entry, {task: files[file] for task, file in own.items()}))
    if not jobs:
        raise rows.no_rows(", ".join(studies))
    if series:
        files, jobs = _chosen(files, jobs, series)
    records = [row for some in files.values() for row in some]
    found = whole(labelled(rows.frame(records)))
    for s in found:
        for at, mark in s.rows["mark"].items():
            records[at] |= {"series": s.label, "mark": mark}
    sizes = _sizes(found)
    parts = _parts(found, sizes)
    lines, shown = _lines(found, parts)
    of = score(shown)
    loss = next((view for view in shown if view.kind == "length" and view.loss), None)
    ranked = [*dict.fromkeys((v.task, v.protocol, _metric(v)) for v in (of, loss) if v)]
    best = {s.label: _best(s, lines, ranked) for s in found}
    pages = [(_page(entry, own, sizes, best), own) for entry, own in jobs]
    place = (of.task, of.protocol) if of else None
    return Study("-".join(studies), records, [*files], pages, found, parts, lines, best, place)


def _chosen(files: dict, jobs: list, series: Sequence[str]) -> tuple[dict, list]:
    """Returns the files and jobs of some series alone."""
    records = [row for some in files.values() for row in some]
    kept = part.Part(tuple(series)).of_study(rows.frame(records)).index
    shown = {id(records[at]) for at in kept}

    def of(some: list[dict]) -> list[dict]:
        return [row for row in some if id(row) in shown]

    files = {file: of(some) for file, some in files.items()}
    jobs = [(entry, {task: of(some) for task, some in own.items()}) for entry, own in jobs]
    return files, [(entry, own) for entry, own in jobs if any(own.values())]


def _page(entry: Entry, own: dict[str, list[dict]], sizes: Mapping, best: Mapping) -> Page:
    """As the job itself makes it, as far as the rows know, under the names that the study gives."""
    last = [row for some in own.values() for row in some][-1]  # the curve comes first
    label, tasks = last["series"], tuple(task for task in own if task != CURVE)
    names = entry.study, entry.run, entry.extension, last["scheme"], last["data"]
    options = read_json(entry.folder.folder / "config.json").get("identity") or {}
    return Page(
        *(*names, last["seed"], last["train_length"], tasks, options),
        series=label,
        size=sizes[label],
        trained={task: all(row["mark"] == "ok" for row in own[task]) for task in tasks},
        best=best[label],
    )


def colour(s: Series) -> str:
    """Returns the colour of the extension of a series in the figures, else of its scheme."""
    if s.extension == "direct":
        return colour_and_marker(s.scheme)[0]
    return colour_and_marker(s.extension.partition(",")[0], "extension")[0]


def _lines(
    found: Sequence[Series], parts: Mapping[str, str]
) -> tuple[list[dict[str, Any]], list[View]]:
    """Returns the lines of the table, and the views that they belong to."""
    lines, shown = [], []
    for gate in (PASSED, BELOW):
        own = [replace(s, rows=s.rows[(s.rows["mark"] == "ok") == (gate == PASSED)]) for s in found]
        for view in views(own):
            shown.append(view)
            names = gate, view.kind, view.task, view.protocol, _metric(view), view.length
            for p in view.points.itertuples():
                s, numbers = found[p.series], (p.x, p.value, p.low, p.high, p.seeds)
                lines.append(_line(s.label, colour(s), parts[s.label], *names, *numbers))
    for s in found:
        lines += [_line(s.label, colour(s), parts[s.label], *line) for line in _effective(s)]
    return lines, shown


def _line(*values: Any) -> dict[str, Any]:
    """Returns a line of the table, with None for numbers that are not finite."""
    known = [None if isinstance(v, float) and not math.isfinite(v) else v for v in values]
    return dict.fromkeys(COLUMNS, "") | dict(zip(COLUMNS, known, strict=False))


def _metric(of: View | Score) -> str:
    """Returns the metric of a view as it is shown: losses as perplexities."""
    return "perplexity" if of.metric == "nll" else of.metric


def _effective(s: Series) -> Iterator[tuple]:
    for (task, protocol), length in effective_lengths(s).items():
        own = select(s.rows, task=task, protocol=protocol, mark="ok")
        names = PASSED, "effective", task, protocol, "effective length", None, 0.0
        numbers = map(float, (length.tokens, length.low, length.high))
        yield (*names, *numbers, own["run"].nunique(), ">=" * length.least)


def _sizes(found: Sequence[Series]) -> dict[str, int]:
    """Returns the parameters of the smallest model of the size of each series, 0 if unknown."""
    own = {s.label: int(s.rows["params"].dropna().max() or 0) for s in found}
    smallest: list[int] = []
    for count in sorted(set(own.values())):
        if not smallest or count > ALIKE * smallest[-1]:
            smallest.append(count)
    return {label: max(n for n in smallest if n <= count) for label, count in own.items()}


def _parts(found: Sequence[Series], sizes: Mapping[str, int]) -> dict[str, str]:
    """Returns the size of each series if they differ, and its training length if they differ."""
    lengths = {s.label: int(s.rows["train_length"].iloc[0]) for s in found}
    alike: dict[tuple, set[int]] = {}
    for s in found:
        alike.setdefault((s.scheme, s.data, s.extension), set()).add(sizes[s.label])
    several = any(len(own) > 1 for own in alike.values())
    longer = len(set(lengths.values())) > 1
    parts = {}
    for label in sorted(lengths, key=lambda label: (sizes[label], lengths[label])):
        size, length = f"{sizes[label]:,} parameters", f"L = {lengths[label]}"
        parts[label] = ", ".join([size] * several + [length] * longer)
    return parts


def _best(
    s: Series, lines: Sequence[Mapping[str, Any]], ranked: Sequence[tuple[str, str, str]]
) -> dict[str, float]:
    """Returns the values that a series is ranked by, and counts. ranked: task, protocol and metric
    of scores at FURTHEST times L.
    """
    far = FURTHEST * int(s.rows["train_length"].iloc[0])
    first = ranked[0] if ranked else ("", "", "")
    places = {"effective length": ("effective", *first[:2], "effective length", 0.0)}
    places |= {f"{place[-1]} at {FURTHEST} L": ("length", *place, far) for place in ranked}
    at = ("kind", "task", "protocol", "metric", "x")
    means = {  # trained seeds come first, so that their mean is the last to be put
        tuple(line[name] for name in at): line["mean"]
        for line in reversed(lines)
        if line["series"] == s.label and line["kind"] != "depth" and line["mean"] is not None
    }
    below = s.rows[(s.rows["mark"] != "ok") & (s.rows["task"] == first[0])]
    counts = {"seeds": s.rows["run"].nunique(), BELOW: below["run"].nunique()}
    if len(params := s.rows["params"].dropna()):
        counts["parameters"] = int(params.iloc[0])
    bounds = {line["bound"] for line in lines if line["series"] == s.label}
    ends = {"effective length is a lower bound": 1} if ">=" in bounds else {}
    return {name: means[at] for name, at in places.items() if at in means} | counts | ends
