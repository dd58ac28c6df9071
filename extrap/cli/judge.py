"""Train a scheme or an extension of your own and set it beside those whose rows travel with extrap.

    extrap judge scheme=mine --config-dir my_conf plugins=[my_package]

Writes rows, the differences to every other series, one page of HTML, and figures and a table for a
paper into results/judge. Other options are a second candidate.
"""

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from extrap.cli.judge_candidate import BASELINES, Candidate, candidate, foresee_all, train
from extrap.cli.shared import advise, argument, command
from extrap.figures.drawing.dimensions import holding
from extrap.figures.drawing.palette import FOLDERS
from extrap.figures.drawing.paper import COLUMN, PAPERS, page
from extrap.results.places import place
from extrap.utils.errors import UserError, choose

if TYPE_CHECKING:
    from extrap.audit.column import Column
    from extrap.audit.subject import Subject
    from extrap.cli.composed import Composed
    from extrap.results.series import Series
    from extrap.runs.job import Job

SEEDS = ("0", "1", "2")
"""Seeds of the experiments conf/experiment/judge."""
PRECISION = "32-true"
"""Of the trainings whose rows travel with extrap."""

SPEED = ("batch_tokens",)
"""Options of tasks that change speed and memory only."""

RECIPES = "also train it under this many recipes of the study grid, 1 to 4: a rank for each"

PAPER = f"page of the figures in paper/: {', '.join(PAPERS)} (default: {COLUMN})"


@command(
    "words conf",
    argument("--recipes", type=int, default=0, metavar="N", help=RECIPES),
    argument("--paper", default=COLUMN, metavar="PAGE", help=PAPER),
)
def main(args: Namespace) -> Iterator[str]:
    found = judged(candidate(args.words, args.config_dir, args.paper, args.recipes))
    yield found.text
    yield from map(str, found.files)


class Judged(NamedTuple):
    """The answer of `extrap judge`.

    Args:
        board, differences: of extrap.results.beside
        contracts: how the scheme or extension breaks each, empty if it holds, `not checked: ...`
            and why, `broken on purpose: ...` if extrap knows why
        text: the verdict in words
        files: what was written, the page first
    """

    board: pd.DataFrame
    differences: pd.DataFrame
    contracts: dict[str, str]
    text: str
    files: list[Path]


def judged(asked: Candidate) -> Judged:
    """Trains and evaluates a candidate as far as that is left to do, and compares it with the
    others. Raises UserError for a mistake before any work, and if a run fails.
    """
    from extrap import figures
    from extrap.audit import contracts, extension_contracts
    from extrap.cli import judge_recipes, program
    from extrap.results import baselines
    from extrap.runs import validate
    from extrap.utils.plugins import told

    advise()
    judge_recipes.check(asked)
    others = baselines.rows(BASELINES[asked.group])
    found = _composed(asked)
    plugins = found.values["plugins"]
    with told(plugins):
        job = program.job(found)
        _comparable(job, others)
        _ranked(asked, job)
        _same_questions(asked, job)
        others = _like(asked, job, others)
        validate.check(job)
        figures.available(plugins)  # a mistake in one of theirs comes before the training
        shape = job.source.model("meta").scheme.shape
        make = contracts.maker(job.config["scheme"], plugins, shape)
        if asked.group == "scheme":
            broken = contracts.broken(make)
        else:
            broken = extension_contracts.broken(asked.name, job.extension, make)
        recipes = judge_recipes.prepared(asked)
        if recipes:
            under = [(one.job, one.seeds) for one in recipes]
            foresee_all(asked, [(job, asked.seeds or SEEDS), *under])
        train(asked, f"judge/{asked.group}", job, asked.seeds or SEEDS, *asked.named())
        judge_recipes.train_under(asked, recipes)
        line = "sets it beside the others and draws, a minute of a core or two"
        print(f"extrap judge: {line}", file=sys.stderr, flush=True)
        ranks = judge_recipes.ranks(asked, recipes) if recipes else None
        return _verdict(asked, others, broken, job, ranks)


def _composed(asked: Candidate) -> "Composed":
    """Returns the configuration of the first job of a candidate."""
    from extrap.cli.composed import composed

    words = ["sweep.grid=null", f"experiment=judge/{asked.group}", *asked.of_one_seed]
    return composed([*words, *asked.named()], asked.folder)


def _ranked(asked: Candidate, job: "Job") -> None:
    """Raises UserError for a job whose rows have no rank."""
    from extrap.results.ranking import RETRIEVAL

    drop = "leave it out"
    if job.study != asked.study:
        problem = f"a judgement has the study {asked.study}"
        raise UserError("study", job.study, problem, f"{drop}; label=... names the candidate")
    if job.stage == "train":
        raise UserError("stage", job.stage, "without rows nothing is judged", drop)
    if RETRIEVAL.task not in job.tasks:
        problem = f"series are ranked by {RETRIEVAL.task}"
        asks = f"[{','.join(job.tasks)}]"
        raise UserError("task", asks, problem, f"keep {RETRIEVAL.task} among the tasks")
    if job.trained_on == "text":
        problem = "series are ranked by retrieval, which such a run never saw"
        raise UserError("data", job.trained_on, problem, drop)


def _comparable(job: "Job", others: pd.DataFrame) -> None:
    """Raises UserError if no row of a job can be compared with the others."""
    from extrap.results import baselines

    study = others["study"].iloc[0]
    corpus = job.source.corpus.sha256[:12]
    theirs = {*others["corpus"]}
    if corpus not in theirs:
        problem = f"its text is {corpus}, that of {study} {', '.join(sorted(theirs))}"
        remedy = (
            "losses on other text cannot be compared; the embedded text of these rows is the "
            f"source of torch {baselines.TORCH}, which `pip install torch=={baselines.TORCH}` gives"
        )
        raise UserError("data.corpus", problem=problem, remedy=remedy)
    length = job.source.length
    lengths = sorted(int(n) for n in others["train_length"].unique())
    if length not in lengths:
        problem = f"{study} trains at {lengths[0]} tokens"
        raise UserError("data.length", length, problem, f"give data.length={lengths[0]}")


def _same_questions(asked: Candidate, job: "Job") -> None:
    """Raises UserError for an option of a task by which its rows answer other questions than those
    of the others.
    """
    from extrap.cli.composed import composed
    from extrap.cli.values import settled

    bare = settled(composed(["sweep.grid=null", f"experiment=judge/{asked.group}"]))["task"]
    for task, given in job.config["task"].items():
        theirs = bare.get(task, given)
        for option in sorted({*given, *theirs} - {*SPEED}):
            one, other = given.get(option), theirs.get(option)
            if one != other:
                problem = f"the rows of {BASELINES[asked.group]} were asked with {other}"
                raise UserError(f"task.{task}.{option}", one, problem, "leave it out")


def _like(asked: Candidate, job: "Job", others: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of other schemes, or of other extensions of the same scheme: those set for
    the same factor, if there are any.
    """
    if asked.group == "scheme":
        return others[others["extension"] == "direct"]
    from extrap.results.methods import compared, methods

    kept = others[(others["scheme"] == job.label) & (others["data"] == job.trained_on)]
    if kept.empty:
        known = sorted(others["scheme"].unique())
        problem = "no extensions of it travel with extrap"
        raise UserError("scheme", job.label, problem, choose(job.label, known))
    known = methods(kept)
    factor = job.extension.factor or 1.0
    alike = factor if factor != 1 and factor in {*known["set_for"]} else None
    return others.loc[compared(known, alike).index]


def _verdict(
    asked: Candidate,
    others: pd.DataFrame,
    contracts: dict[str, str],
    job: "Job",
    ranks: tuple[str, list[list[str]]] | None,
) -> Judged:
    """Compares the rows of a candidate with the others, and writes what it finds. ranks: under
    other recipes.
    """
    from extrap.cli import judge_files
    from extrap.results import baselines
    from extrap.results.beside import beside, board, differences, either, joined
    from extrap.results.comparison.cells import on_disk
    from extrap.results.ranking import RETRIEVAL
    from extrap.results.rows import read_with_sheets
    from extrap.runs.evaluate import config_hash
    from extrap.runs.layout import RESULTS

    folder = place(RESULTS, asked.study)
    rows = joined(read_with_sheets(folder), others)
    found = beside(rows, asked.study, job.label, config_hash(job, RETRIEVAL.task))
    scores = either(on_disk(folder), baselines.items(BASELINES[asked.group]))
    plugins = job.config["plugins"]
    if asked.group == "scheme":
        cost = _cost(_schemes(asked.label, job, found.others))
    else:
        cost = _cost(_extensions(found.found[found.candidate].label, job, found.others))
    spread, recipes = ranks or ("", [])
    notes = [*_notes(asked, job), *_set_for(job, others), *filter(None, [spread])]
    apart = differences(found, scores)
    verdict = judge_files.Verdict(found, board(found), apart, contracts, notes, cost, recipes)
    paper, folders = page(asked.paper), (asked.folder,) if asked.folder else ()
    with holding((FOLDERS, folders)):
        files = judge_files.written(folder, rows, verdict, asked.command, paper, plugins)
    text = judge_files.text(verdict)
    return Judged(verdict.board, verdict.differences, contracts, text, files)


def _notes(asked: Candidate, job: "Job") -> list[str]:
    """Returns a sentence about options of training that the others do not share."""
    own = [word for word in asked.words if word.lstrip("+").startswith(("train.", "model", "data"))]
    precision = job.source.precision
    if precision != PRECISION:
        own.append(f"in {precision}, they in {PRECISION}")
    return [f"Trained otherwise than the others: {', '.join(own)}."] if own else []


def _set_for(job: "Job", others: pd.DataFrame) -> list[str]:
    """Returns a sentence about an extension that is set for another length than the others."""
    from extrap.results.methods import methods, target

    factor = job.extension.factor or 1.0
    theirs = target(methods(others)) if (others["extension"] != "direct").any() else factor
    if 1.0 in (factor, theirs) or factor == theirs:
        return []
    return [f"Set for {factor:g} L, the others for {theirs:g} L: ranks compare both at one length."]


def _schemes(label: str, job: "Job", others: Sequence["Series"]) -> list["Subject"]:
    """Returns the candidate and the others that are schemes of extrap."""
    from extrap.audit.subject import Subject
    from extrap.runs.choices import node as of_name

    nodes = {label: job.config["scheme"]}
    for other in others:
        if (own := of_name("scheme", other.scheme)) is not None:
            nodes[other.scheme] = own
    return [Subject(name, own, job.config["plugins"]) for name, own in nodes.items()]


def _extensions(label: str, job: "Job", others: Sequence["Series"]) -> list["Subject"]:
    """Returns the candidate and the others that are extensions of extrap, on the same scheme."""
    from extrap.audit.subject import Extended
    from extrap.extensions.base import Extension
    from extrap.runs.build import build
    from extrap.runs.choices import node as of_name

    made = {label: job.extension}
    for other in others:
        if (node := of_name("extension", other.extension)) is not None:
            factor = float(other.rows["factor"].iloc[0])
            own = node | ({"factor": factor} if node.get("factor") and factor != 1 else {})
            made[other.label] = build(own, "extension", [], Extension)
    scheme, plugins = job.config["scheme"], job.config["plugins"]
    return [Extended(name, scheme, plugins, extension) for name, extension in made.items()]


def _cost(subjects: Sequence["Subject"]) -> list[list[str]]:
    """Returns the cost of schemes, plain or extended, as cells."""
    from extrap.audit.cost import COLUMNS

    lines = [["series", *(column.head for column in COLUMNS)]]
    for subject in subjects:
        lines.append([subject.name, *(_cell(column, subject) for column in COLUMNS)])
    return lines


def _cell(column: "Column", subject: "Subject") -> str:
    """Returns a measured cost, - for a scheme that the shape of the cost does not suit, and for an
    extension that reads a text in several windows: runs are trained, and their verdict waits.
    """
    try:
        return column.cell(column.measure(subject))
    except Exception:
        return "-"
