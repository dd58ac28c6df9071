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
    known: dict[Path, list[dict]] = {}  # the curve of a run is one file for several jobs
    jobs = []
    for entry in entries(study):
        tasks = sorted(entry.tasks, key=lambda task: task != CURVE)  # W&B takes steps in order only
        files = {task: file for task in tasks if (file := entry.file(task).rows).exists()}
        known |= {file: rows.records([file]) for file in files.values() if file not in known}
        own = {task: known[file] for task, file in files.items()}
        if any(own.values()):
            jobs.append((entry, own, [*files.values()]))
    if not jobs:
        remedy = f"`extrap status {study}` tells what is left to run"
        raise UserError("STUDY", study, "no rows yet", remedy)
    records = [row for some in known.values() for row in some]
    found, places = lines(rows.frame(records)), {id(row): n for n, row in enumerate(records)}
    pages = [(page_of(entry, own, found, places), own, files) for entry, own, files in jobs]
    return Study(study, records, found, pages)


def whole(study: Study) -> Page:
    """The page of the study itself."""
    schemes, lengths = ({row[name] for row in study.records} for name in ("scheme", "train_length"))
    names = study.name, f"study-{study.name}", DIRECT, ", ".join(sorted(schemes)), "all"
    return Page(*names, 0, min(lengths), (), job_type="study")


def page_of(entry: Entry, own: dict[str, list[dict]], found: Lines, places: dict[int, int]) -> Page:
    """As the job itself makes it, as far as the rows know, under the names that the study gives."""
    measured = [row for some in own.values() for row in some]
    row = measured[0]
    series = found.of_rows[places[id(measured[-1])]]  # the curve comes first, of no extension
    names = entry.study, entry.run, entry.extension, row["scheme"], row["data"]
    return Page(
        *names,
        row["seed"],
        row["train_length"],
        tuple(task for task in own if task != CURVE),
        read_json(entry.folder.folder / "config.json").get("identity") or {},
        series=series.label,
        size=found.sizes[series.label],
        trained={
            task: found.lost.isdisjoint(places[id(row)] for row in some)
            for task, some in own.items()
            if task != CURVE
        },
        best=found.best[series.label],
    )
