"""What lies in the way of a command: files where folders should be, folders where files should
be, odd values in files of state, outputs that nobody takes. One line and exit code 2, or no word.

Each case is prepared in a folder with a small study `s` of two runs; messages.txt holds the lines.
"""

import json
import os
import shlex
import shutil
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest

from extrap.cli import clean, compare, findings, plot, report, schemes, status, table
from extrap.cli.shared import reported
from extrap.results import rows
from extrap.runs import experiment, train
from extrap.runs.folder import write_json
from extrap.runs.job import make
from extrap.utils import lock
from tests.support import jobs
from tests.support.plausible import run_rows

Prepare = Callable[[Path], object]
PARTS = (clean, compare, findings, plot, report, schemes, status, table)
COMMANDS = {part.__name__.rpartition(".")[2]: part.main for part in PARTS}
FILE, FOLDER = "a file where a folder should be", "a folder where a file should be"


def study(folder: Path) -> None:
    for name in ("rope", "alibi"):
        found = run_rows(name)
        stem = f"{found[0]['run']}__direct__nll.csv"
        mine = [row for row in found if row["task"] == "nll"]
        rows.write(folder / "results/s/rows" / stem, [row | {"study": "s"} for row in mine])


def occupied(path: str) -> Prepare:
    """A file lies there instead."""

    def put(folder: Path) -> None:
        shutil.rmtree(folder / path, ignore_errors=True)
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("mine")

    return put


def folder_at(path: str) -> Prepare:
    return lambda folder: (folder / path).mkdir(parents=True)


def linked(path: str) -> Prepare:
    def put(folder: Path) -> None:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).symlink_to(folder / path)

    return put


def declared(text: str | bytes) -> Prepare:
    content = text.encode() if isinstance(text, str) else text
    return lambda folder: (folder / "results/s/findings.yaml").write_bytes(content)


def piped(path: str) -> Prepare:
    return lambda folder: os.mkfifo(folder / path)


def said(state: str, name: str = "state.json") -> Prepare:
    """runs/rope-cafe0123-s0 with a file of this content."""

    def put(folder: Path) -> None:
        path = folder / "runs/rope-cafe0123-s0" / name
        path.parent.mkdir(parents=True)
        path.with_name("weights.pt").write_bytes(b"")
        path.write_text(state)

    return put


def nothing(folder: Path) -> None:
    pass


STATEMENT = "{id: a, says: b, source: c, rows: {task: nll}, above: 1"

ESCAPE = STATEMENT.replace("says: b", 'says: "') + '\\e[2J"'


def stated(more: str = "", statement: str = STATEMENT, common: str = "") -> Prepare:
    return declared(f"{common}statements: [{statement}{more}}}]")


# fmt: off
MISTAKES: dict[str, tuple[str, Prepare]] = {
    "plot: results is a file": ("s", occupied("results")),
    "plot: rows are a file": ("s", occupied("results/s/rows")),
    "plot: figures are a file": ("s loss_length", occupied("results/s/figures")),
    "plot: a figure is a folder": ("s loss_length", folder_at("results/s/figures/loss_length.svg")),
    "plot: analytic is a file": ("--analytic rope_base", occupied("results/analytic")),
    "plot: a study above": ("../s", nothing),
    "plot: a study on two lines": ("'s\nt'", nothing),
    "plot: no series": ("s --series ''", nothing),
    "plot: a width that is none": ("s --width nanin", nothing),
    "table: results elsewhere is a file": (
        "s --results results/s/rows/rope-cafe0123-s0__direct__nll.csv", nothing
    ),
    "table: results of too long a name": ("s --results " + "a" * 5000, nothing),
    "report: the page is a folder": ("s", folder_at("results/s/report.html")),
    "report: to a folder": ("s --output out", folder_at("out")),
    "report: to a pipe": ("s --output out", piped("out")),
    "report: below a file": ("s --output out/a.html", occupied("out")),
    "report: to a name too long": ("s --output " + "a" * 300, nothing),
    "report: through a link": ("s", linked("results/s/report.html")),
    "findings: a folder": ("s", folder_at("results/s/findings.yaml")),
    "findings: a pipe": ("s", piped("results/s/findings.yaml")),
    "findings: not UTF-8": ("s", declared(b"\xff\xfe")),
    "findings: deep": ("s", declared("[" * 9999)),
    "findings: a day that is none": ("s", declared("declared: 2026-99-99")),
    "findings: a number": ("s", declared("3")),
    "findings: an escape": ("s", stated(statement=ESCAPE)),
    "findings: names of several kinds": ("s", stated(", 1: 2, foo: 3")),
    "findings: a premise that is a list": ("s", stated(", learned: [1]")),
    "findings: columns of several kinds": ("s", stated(common="common: {1: 2, foo: 3}\n")),
    "findings: the table is a folder": ("--write", folder_at("results/README.md")),
    "status: runs is a file": ("t", occupied("runs")),
    "compare: items are a folder": (
        "s rope alibi", folder_at("results/s/items/rope-cafe0123-s0__direct__nll.csv")
    ),
    "clean: a run that is a file": ("s --runs --yes", occupied("runs/rope-cafe0123-s0")),
    "clean: rows behind a link": ("s --rows --yes", linked("results/s/items")),
}
# fmt: on
"""What is done and found, behind the program that meets it: its words, and what lies in its way."""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study(tmp_path)
    return tmp_path


def outcome(call: Callable, words: list[str]) -> object:
    try:
        call(words)
    except SystemExit as end:
        return end.code
    return 0


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", MISTAKES)
def test_what_lies_in_the_way_is_one_line(name, here, capsys, messages):
    words, prepare = MISTAKES[name]
    prepare(here)
    code = outcome(COMMANDS[name.partition(":")[0]], shlex.split(words))
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert (code, len(lines), out) == (0 if name.startswith("clean: a run") else 2, 1, ""), err
    messages.check(name, "", lines[0].partition(": ")[2])


VALUES = ["Infinity", "-Infinity", "NaN", "1e999", "-3", "true", '"x"', "[]", "1" * 4000, "1e308"]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("what", ["seconds of a run", "seconds of rows", "how far", "when it ends"])
def test_a_number_that_is_none_is_left_out(what, value, here, capsys):
    if what == "seconds of a run":
        said(f'{{"schema": 2, "state": "trained", "steps": 3, "files": {{}}, "seconds": {value}}}')(
            here
        )
    elif what == "seconds of rows":
        said(f'{{"config": "c", "rows": "r", "seconds": {value}}}', "done/s__direct__nll.json")(
            here
        )
    else:
        name = "left" if what == "when it ends" else "done"
        said(f'{{"phase": "nll", "total": 5, "{name}": {value}}}', ".log.7.json")(here)
    with lock.alone(here / "runs/rope-cafe0123-s0", "s__direct"):
        for words in ([], ["s"], ["s", "--json"]):
            assert outcome(status.main, words) == 0
    out, err = capsys.readouterr()
    assert err == "" and "rope-cafe0123-s0" in out
    json.loads(out[out.index("{") :], parse_constant=pytest.fail)


ENTRIES = {
    "a list": "[]",
    "nested deep": "[" * 99_999,
    "not UTF-8": b"\xff",
    "tasks that are a list": {"tasks": ["nll"]},
    "a study that is a number": {"study": 3},
    "a run above": {"run": "../x"},
    "a task with a line end": {"tasks": {"n\nll": "c"}},
    "a command that does not close": {"command": "extrap 'a"},
    "a command with an escape": {"command": "extrap \x1b[2J"},
    "a field too many": {"colour": "red"},
}


@pytest.mark.parametrize("name", ENTRIES)
def test_a_job_that_was_never_asked_for_so(name, here, capsys):
    path = here / "runs/.jobs/s/rope-cafe0123-s0__direct.json"
    path.parent.mkdir(parents=True)
    entry = ENTRIES[name]
    if isinstance(entry, dict):
        plain = {"study": "s", "run": "rope-cafe0123-s0", "extension": "direct"}
        write_json(path, plain | {"tasks": {"nll": "c"}, "command": "extrap"} | entry)
    else:
        path.write_bytes(entry if isinstance(entry, bytes) else entry.encode())
    assert outcome(status.main, ["s"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and "\x1b" not in out and "rope-cafe0123-s0" in out


IN_A_RUN: dict[str, tuple[Callable[[str], Prepare], str]] = {
    "runs is a file": (lambda run: occupied("runs"), FILE),
    "jobs are a file": (lambda run: occupied("runs/.jobs"), FILE),
    "jobs of the study are a file": (lambda run: occupied("runs/.jobs/t"), FILE),
    "the run is a file": (lambda run: occupied(f"runs/{run}"), FILE),
    "its lock is a folder": (lambda run: folder_at(f"runs/{run}/.lock-t__direct"), FOLDER),
    "its lock is a link": (lambda run: linked(f"runs/{run}/.lock-t__direct"), "a link"),
    "what was asked for is a folder": (
        lambda run: folder_at(f"runs/.jobs/t/{run}__direct.json"),
        FOLDER,
    ),
    "jobs are a link": (lambda run: linked("runs/.jobs"), "a link"),
}


@cache
def options() -> tuple[dict, dict]:
    return jobs.composed(*jobs.TINY, "study=t")


@pytest.mark.parametrize("name", IN_A_RUN)
def test_a_run_says_what_lies_in_its_way(name, elsewhere, capsys):
    this = make(*deepcopy(options()))
    prepare, line = IN_A_RUN[name]
    prepare(this.run.name)(elsewhere)
    (elsewhere / "results.csv").write_text("mine")
    before = {path: path.lstat().st_mode for path in elsewhere.rglob("*") if path.is_file()}
    with pytest.raises(SystemExit, match="2"), reported():
        experiment.Experiment(this, "extrap").run()
    [told] = capsys.readouterr().err.splitlines()
    assert told.startswith("extrap: runs") and line in told
    assert before.items() <= {path: path.lstat().st_mode for path in elsewhere.rglob("*")}.items()
    assert not list(elsewhere.rglob("weights.pt"))


def test_a_reader_that_is_gone_is_no_fault_of_the_run(here, monkeypatch):
    """Else what cleans failed runs would take its checkpoint, too."""

    def unheard(*_: object) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    this = make(*deepcopy(options()))
    failed: list[object] = []
    monkeypatch.setattr(type(this.run), "fail", lambda _, why, *more: failed.append(why))
    monkeypatch.setattr(train, "train", unheard)
    with pytest.raises(BrokenPipeError):
        experiment.Experiment(this, "extrap").run()
    assert failed == [None]  # what an earlier attempt left is taken back


@pytest.mark.parametrize("call", [plot.main, table.main, status.main, report.main])
def test_a_folder_that_is_gone_is_one_line(call, here, capsys):
    (here / "gone").mkdir()
    os.chdir(here / "gone")
    (here / "gone").rmdir()
    assert outcome(call, ["s"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
