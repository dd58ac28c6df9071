"""A study as a dashboard shows it: a page for each job, made from the rows on this disk."""

from dataclasses import dataclass
from pathlib import Path

from extrap.results import rows
from extrap.runs.dashboard.lines import Lines, lines
from extrap.runs.dashboard.page import Page
from extrap.runs.folder import read_json
from extrap.runs.layout import CURVE, DIRECT
from extrap.runs.study import Entry, entries
from extrap.utils.errors import UserError


@dataclass(frozen=True)
class Study:
    """A study as it is shown. records: all rows; pages: of each job the page, its rows by task and
    the files of these.
    """

    name: str
    records: list[dict]
    lines: Lines
    pages: list[tuple[Page, dict[str, list[dict]], list[Path]]]

    @property
    def files(self) -> list[Path]:
        return list(dict.fromkeys(file for *_, files in self.pages for file in files))

    @property
    def jobs(self) -> list[Page]:
        return [page for page, *_ in self.pages]


def read(study: str) -> Study:
    """Reads the rows of a study, from which alone its pages follow. Raises UserError without rows
    and for mixed corpora.
    """
    records: list[dict] = []
    places: dict[Path, int] = {}
    jobs = []
    for entry in entries(study):
        tasks = sorted(entry.tasks, key=lambda task: task != CURVE)  # W&B takes steps in order only
        files = {task: file for task in tasks if (file := entry.file(task).rows).exists()}
        own = {task: rows.records([file]) for task, file in files.items()}
        if not any(own.values()):
            continue
        for task, file in files.items():
            if file not in places:  # the curve of a run is one file for all of its readings
                places[file] = len(records)
                records += own[task]
        jobs.append((entry, own, files))
    if not jobs:
        raise UserError(
            "STUDY", study, "no rows yet", f"`extrap status {study}` tells what is left to run"
        )
    found = lines(rows.frame(records))
    pages = [(page_of(entry, own, files, places, found), own, [*files.values()])
             for entry, own, files in jobs]  # fmt: skip
    return Study(study, records, found, pages)


def whole(study: Study) -> Page:
    """The page of the study itself."""
    schemes, lengths = ({row[name] for row in study.records} for name in ("scheme", "train_length"))
    return Page(
        study.name,
        f"study-{study.name}",
        DIRECT,
        ", ".join(sorted(schemes)),
        "all",
        0,
        min(lengths),
        (),
        job_type="study",
    )


def page_of(
    entry: Entry, own: dict[str, list[dict]], files: dict[str, Path], places: dict, found: Lines
) -> Page:
    """As the job itself makes it, as far as the rows know, under the names that the study gives."""
    row = next(row for some in own.values() for row in some)
    options = read_json(entry.folder.folder / "config.json").get("identity") or {}
    measured = {
        task: range(places[file], places[file] + len(own[task])) for task, file in files.items()
    }
    # the last, as the curve, which comes first, is of no extension
    series = found.of_rows[[at[0] for at in measured.values() if at][-1]]
    names = entry.study, entry.run, entry.extension, row["scheme"], row["data"]
    return Page(
        *names,
        row["seed"],
        row["train_length"],
        tuple(task for task in own if task != CURVE),
        options,
        series=series.label,
        size=found.sizes[series.label],
        trained={task: found.passed(at) for task, at in measured.items() if task != CURVE},
        best=found.best[series.label],
    )
