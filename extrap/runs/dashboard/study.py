"""A study as a dashboard shows it, made from the rows on this disk: a page for each job, and the
series of its tables and figures, with their means and intervals, as one table that a chart draws.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import pandas as pd

from extrap.figures.drawing.part import Chosen
from extrap.figures.report.leaderboard import score
from extrap.results import rows
from extrap.results.series import Series, sizes, whole
from extrap.results.sheets import Sheet
from extrap.results.together import labelled, together
from extrap.runs.dashboard import series_table
from extrap.runs.dashboard.page import Page
from extrap.runs.dashboard.series_table import Rows, colour
from extrap.runs.folder import read_json
from extrap.runs.layout import CURVE, DIRECT, RESULTS
from extrap.runs.study import Entry, entries

DRAWN = 120
"""Series up to which the page of a study has figures. Nobody tells more lines or panels apart, and
drawing them takes minutes; the charts of the workspace draw all.
"""
Files = dict[Sheet, Rows]
Jobs = list[tuple[Entry, dict[str, Rows]]]
"""Jobs with their rows by task."""


@dataclass(frozen=True)
class Study:
    """A study as a dashboard shows it: a page for each job, and one table of series.

    Args:
        records: of all rows
        rows: the same as a frame, in which a series of several studies is named after its study
        pages: of each job the page and its rows by task
        parts: by label of a series, the part that shows it
        lines: of the table
        best: by label, the values that series are ranked by
        place: task and protocol of these
    """

    name: str
    records: Rows
    rows: pd.DataFrame
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
    series: names of series or schemes, by default all. Raises UserError without rows, for a study
    given twice and for rows that cannot be compared.
    """
    files, jobs = _on_disk(studies)
    if not jobs:
        raise rows.no_rows(", ".join(studies))
    if len(studies) > 1:
        together(RESULTS, studies)  # refuses what cannot stand side by side
    records = list(chain.from_iterable(files.values()))
    frame = Chosen(tuple(series)).of_study(labelled(rows.frame(records)))
    found = whole(frame)
    for s in found:
        for at, mark in s.rows["mark"].items():
            records[at] |= {"series": s.label, "mark": mark}
    records = [records[at] for at in frame.index]
    jobs = _of_records(jobs, records)
    smallest = sizes(found)
    parts = series_table.parts(found, smallest)
    lines, shown = series_table.lines(found, parts)
    of = score(shown)
    losses = (view for view in shown if view.kind == "length" and view.loss)
    scores = [view for view in (of, next(losses, None)) if view]
    ranked = list(dict.fromkeys((v.task, v.protocol, series_table.metric(v)) for v in scores))
    best = {s.label: series_table.best(s, lines, ranked) for s in found}
    pages = [(_page(entry, own, smallest, best), own) for entry, own in jobs]
    place = (of.task, of.protocol) if of else None
    return Study("-".join(studies), records, frame, pages, found, parts, lines, best, place)


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


def _of_records(jobs: Jobs, records: Rows) -> Jobs:
    """Returns the jobs that have some of these records, and no other records in them."""
    shown = {id(record) for record in records}
    left: Jobs = []
    for entry, own in jobs:
        chosen: dict[str, Rows] = {}
        for task, some in own.items():
            chosen[task] = [row for row in some if id(row) in shown]
        if any(chosen.values()):
            left.append((entry, chosen))
    return left


def _page(entry: Entry, own: Mapping[str, Rows], smallest: Mapping, best: Mapping) -> Page:
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
        size=smallest[label],
        trained={task: _passed(own[task]) for task in tasks},
        best=best[label],
    )


def _passed(some: Rows) -> bool:
    return all(row["mark"] == "ok" for row in some)
