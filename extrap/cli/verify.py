"""Draw cells of a published table, compute them again, and compare number, hash and interval.

Every cell is checked for what needs no computing first: the sums of the files, names and hashes
against the words of the jobs, seeds, text, and the cards against the rows. Then some evaluations
are drawn and measured again, from the weights of the bundle or of runs here, else by training.
Exit code 2 if anything is not as it says. An evaluation without rows is named: nobody can tell one
that never ran from one that was taken away.
"""

import hashlib
import random
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import chdir
from dataclasses import is_dataclass, replace
from itertools import product
from pathlib import Path
from shutil import copytree, rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from extrap.cli.compared import compared
from extrap.cli.publish import JOBS, KEPT, ROWS, SUMS, made, unmade, unmeasured
from extrap.cli.shared import argument, command
from extrap.results import left_out
from extrap.results import rows as table
from extrap.results.places import place
from extrap.runs.layout import RUNS
from extrap.utils.atomic import make_folder
from extrap.utils.errors import UserError, printable
from extrap.utils.untrusted import read_json

if TYPE_CHECKING:
    from extrap.cli.listed import Listed
    from extrap.runs.job import Job

WHAT = "name of a study, or the folder of a bundle that extrap publish made"
LARGEST = 2**28
"""Bytes of a list of jobs, and of sums."""


@command(
    "results",
    argument("what", metavar="STUDY|BUNDLE", help=WHAT),
    argument("--cells", type=int, default=3, metavar="N", help="evaluations to draw (default: 3)"),
    argument("--draw", type=int, metavar="SEED", help="which ones; by default drawn at random"),
    argument("--train", action="store_true", help="train their runs again, even if there are "
             "weights: rows of other weights agree with these weights"),
)  # fmt: skip
def main(args: Namespace) -> Iterator[str]:
    if args.cells < 0:
        raise UserError("--cells", args.cells, "expected a number from 0")
    seed = random.SystemRandom().randrange(2**32) if args.draw is None else args.draw
    bundle = _bundle(args.results, args.what)
    if bundle is None:
        published = study(args.results, args.what)
    else:
        published = opened(bundle)
        yield f"sums, jobs, hashes, text and cards agree: {len(published.rows)} rows"
        for named in without(published):
            yield printable(f"no rows  {named}")
    yield from map(printable, published.stale)
    wrong = []
    for job, task in drawn(published, args.cells, seed):
        name = f"{job.run} {job.extension} {task}"
        said, holds = again(published, job, task, args.train)
        yield printable(f"{said}  {name}")
        if not holds:
            wrong.append(name)
    yield f"drawn with --draw {seed}"
    if wrong:
        raise UserError(wrong[0], problem="its numbers are not those that it computes")


def _bundle(results: Path, what: str) -> Path | None:
    """Returns the folder of a bundle, None if a study is named. Raises UserError for a bundle
    without its list of jobs.
    """
    folder = Path(what)
    if (folder / JOBS).is_file():
        return folder
    if what not in table.studies(results) and any((folder / n).is_file() for n in (ROWS, SUMS)):
        raise UserError(folder / JOBS, problem="is missing")
    return None


class Published(NamedTuple):
    """The table that is verified.

    Args:
        rows: of a table
        jobs: of its rows
        rules: of rows that are left out; None: nobody says which
        folder: of a bundle
        stale: lines about rows that no job makes, and which are not drawn
    """

    rows: pd.DataFrame
    jobs: list["Listed"]
    rules: list[left_out.Rule] | None = None
    folder: Path | None = None
    stale: Sequence[str] = ()


def study(results: Path, name: str) -> Published:
    """Returns a study on disk, or one whose rows travel with the package, without the rows that
    none of its commands makes. Raises UserError if no row is left.
    """
    from extrap.cli.listed import of_study
    from extrap.results import baselines

    own = name in table.studies(results)
    rows = table.open_study(results, name) if own else baselines.rows(name)
    folder = place(results, name) if own else baselines.folder(name)
    rules = left_out.rules(folder) if own or (folder / left_out.FILE).is_file() else None
    found = of_study(name)
    why = unmade(rows, found)
    made_again = rows[why == ""]
    if made_again.empty:
        raise UserError("STUDY", name, "no command of it makes its rows")
    return Published(_agreeing(made_again, found), found, rules, stale=_told(rows, why))


def _told(rows: pd.DataFrame, why: pd.Series) -> list[str]:
    """Returns a line for each reason why evaluations are not drawn: how many, and the first."""
    names = rows["run"] + " " + rows["extension"] + " " + rows["task"]
    lines = []
    for reason in sorted({*why} - {""}):
        found = names[why == reason].unique()
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        lines.append(f"not drawn  {found[0]}{more}: {reason}")
    return lines


def opened(folder: Path) -> Published:
    """Returns a bundle all of whose parts agree. Raises UserError, naming the part, otherwise."""
    from extrap.cli.listed import checked, listed

    _check_sums(folder)
    about = read_json(folder / JOBS, LARGEST)
    rows = table.read_file(folder / ROWS)
    jobs = []
    for one in about.get("jobs", []):
        told = one if isinstance(one, dict) else {}
        job = listed(checked(told.get("words")))
        own = {"run": job.run, "extension": job.extension, "tasks": job.tasks}
        for name, value in own.items():
            if told.get(name) != value:
                problem = f"{name} of {told.get('run')} is not what its words make"
                raise UserError(folder / JOBS, problem=problem)
        jobs.append(job)
    rows = _agreeing(rows, jobs)
    licence, text = about.get("licence"), about.get("text")
    if not isinstance(licence, str) or not isinstance(text, str):
        raise UserError(folder / JOBS, problem="names no licence and no text")
    rules = left_out.checked(folder / JOBS, about.get("left_out", []))
    gone = about.get("not_made", [])
    if not isinstance(gone, list) or not all(isinstance(name, str) for name in gone):
        raise UserError(folder / JOBS, problem="not_made is no list of names")
    contents = made(rows, about["jobs"], licence, text, rules, gone)
    _check_parts(folder, {job.run for job in jobs}, contents)
    stale = [f"left out  {name}: no command makes it" for name in gone]
    return Published(rows, jobs, rules, folder, stale)


def _check_parts(folder: Path, runs: set[str], contents: dict[str, bytes]) -> None:
    """Raises UserError for a file that the rows do not make, or that is no part of a bundle."""
    kept = {f"{RUNS}/{run}/{name}" for run, name in product(runs, KEPT)}
    here = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    for name in sorted(here - kept - {*contents, SUMS}):
        raise UserError(folder / name, problem="is no part of a bundle", remedy="take it out")
    for name, content in contents.items():
        if name not in here or (folder / name).read_bytes() != content:
            problem = "is not what the rows make"
            raise UserError(folder / name, problem=problem, remedy="publish the study again")


def without(published: Published) -> list[str]:
    """Returns the evaluations of its jobs of which a table has no row."""
    jobs = [job._asdict() for job in published.jobs]
    return unmeasured(published.rows, jobs, published.rules or [])


def _check_sums(folder: Path) -> None:
    if not (folder / SUMS).is_file():
        raise UserError(folder / SUMS, problem="is missing")
    sums = read_json(folder / SUMS, LARGEST)
    found = [path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()]
    here = {path.relative_to(folder).as_posix() for path in found}
    if strange := sorted(here ^ {*sums, SUMS}):
        known = "is missing" if strange[0] in sums else "is not among its sums"
        raise UserError(folder / strange[0], problem=known)
    for name, said in sums.items():
        path = folder / name
        if path.is_symlink() or not path.is_file():
            raise UserError(path, problem="not a file")
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != said:
                raise UserError(path, problem="is another file than the one that was published")


def _agreeing(rows: pd.DataFrame, jobs: Sequence["Listed"]) -> pd.DataFrame:
    """Returns rows whose names, hashes, seeds and text are those of the jobs. Raises UserError."""
    runs = {job.run: job.job for job in jobs}
    why = unmade(rows, jobs)
    corpora = {run: job.source.corpus.sha256[:12] for run, job in runs.items()}
    one: Any
    for one in rows.drop_duplicates(["run", "task", "config", "seed", "corpus"]).itertuples():
        named = f"{one.run} {one.task}"
        if why[one.Index]:
            raise UserError(named, problem=why[one.Index])
        if not one.run.endswith(f"-s{one.seed}"):
            raise UserError(named, problem=f"its rows say seed {one.seed}")
        if one.corpus not in ("", corpora[one.run]):
            problem = f"it read the text {one.corpus}, its job reads {corpora[one.run]}"
            raise UserError(named, problem=problem)
    columns = {
        "scheme": {run: job.label for run, job in runs.items()},
        "train_length": {run: job.source.length for run, job in runs.items()},
        "params": {run: job.source.params for run, job in runs.items()},
    }
    for column, known in columns.items():
        other = (rows[column] != rows["run"].map(known)) & rows[column].notna()
        if other.any():
            run = rows.loc[other, "run"].iloc[0]
            raise UserError(run, problem=f"its {column} is not that of its job")
    return rows


def drawn(published: Published, cells: int, seed: int) -> list[tuple["Listed", str]]:
    """Returns so many evaluations at random, each with rows; all of them if there are no more."""
    there = {*zip(published.rows["run"], published.rows["config"], strict=True)}
    every = {}
    for job in sorted(published.jobs, key=lambda job: (job.run, job.extension)):
        for task, config in sorted(job.tasks.items()):
            if (job.run, config) in there:
                every[job.run, job.extension, task, config] = job, task
    return random.Random(seed).sample([*every.values()], min(cells, len(every)))


def again(published: Published, job: "Listed", task: str, train: bool = False) -> tuple[str, bool]:
    """Measures an evaluation again. Returns what its rows are beside the published ones, in words,
    and whether they hold. train: with weights that are trained again.
    """
    if published.folder is None and not train:
        kept = _noted(job, task)
        return _beside(published, job, task, measured(job, task), kept)
    _open(job.job)  # before the working folder changes
    make_folder(RUNS)
    place = Path(mkdtemp(prefix=".verify-", dir=RUNS)).absolute()
    try:
        weights = None if published.folder is None or train else published.folder / "runs"
        if weights is not None and weights.is_dir():
            copytree(weights, place / "runs", symlinks=True)
        with chdir(place):
            kept = job.job.run.trained
            found = measured(job, task)
    finally:
        rmtree(place, ignore_errors=True)
    return _beside(published, job, task, found, kept)


def _open(job: "Job") -> None:
    """Opens the text of a job, and lets its tasks read their files wherever the working folder is.
    The hashes of its evaluations keep the paths as they are written.
    """
    from extrap.runs.evaluate import file_of

    _ = job.source.corpus
    for name, task in job.tasks.items():
        file = file_of(job.config["task"][name])
        if file is not None and is_dataclass(task):
            job.tasks[name] = replace(task, path=str(file.absolute()))


def _noted(job: "Listed", task: str) -> bool:
    """True if the run here made the rows of this study, by its note: weights that verify or another
    machine trained are others.
    """
    from extrap.runs.evaluate import entry

    this = entry(job.job)
    return job.job.run.trained and task in this.tasks and this.finished(task)


def _beside(
    published: Published, job: "Listed", task: str, found: pd.DataFrame | None, kept: bool
) -> tuple[str, bool]:
    """Compares the published rows of an evaluation with the computed ones."""
    if found is None:
        return "not: its training diverged", False
    rows = published.rows
    own = rows[(rows["run"] == job.run) & (rows["config"] == job.tasks[task])]
    alike = rows[rows["task"].isin(own["task"]) & rows["commit"].isin(own["commit"])]
    kinds = {*zip(alike["protocol"], alike["metric"], strict=True)}
    return compared(own, found, published.rules, kept, kinds)


def measured(job: "Listed", task: str) -> pd.DataFrame | None:
    """Returns the rows of one evaluation, after the training of a run that is not here; None if the
    run diverged. Raises UserError for a folder of a run with another configuration.
    """
    from extrap.runs.evaluate import completed, evaluations
    from extrap.runs.train import train

    if not job.job.run.trained:
        train(job.job)
    job.job.run.check()
    measure = evaluations(job.job).get(task)
    return None if measure is None else table.as_read(completed(job.job, task, measure()))
