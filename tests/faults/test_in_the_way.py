"""What lies in the way of a command: files where folders should be, folders where files should
be, odd values in files of state, outputs that nobody takes. One line and exit code 2, or no word.

Each case is prepared in a folder with a small study `s` of two runs; messages.txt holds the lines.
"""

import io
import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from extrap.audit import catalogue
from extrap.cli import clean, compare, findings, plot, report, schemes, status, table
from extrap.cli.shared import reported
from extrap.results import rows
from extrap.runs import experiment, train
from extrap.runs.folder import write_json
from extrap.runs.job import make
from extrap.utils import lock
from extrap.utils.atomic import make_folder
from extrap.utils.errors import UserError
from tests.support import jobs
from tests.support.plausible import run_rows
from tests.support.program import typed

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


def piped(path: str) -> Prepare:
    def put(folder: Path) -> None:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(folder / path)

    return put


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


def stated(more: str = "", says: str = "b") -> Prepare:
    """A file of one statement."""
    statement = STATEMENT.replace("says: b", f"says: {says}")
    path = "results/s/findings.yaml"
    return lambda folder: (folder / path).write_text(f"statements: [{statement}{more}}}]")


# fmt: off
MISTAKES: dict[str, tuple[str, Prepare]] = {
    "plot: rows are a file": ("s", occupied("results/s/rows")),
    "plot: figures are a file": ("s loss_length", occupied("results/s/figures")),
    "plot: a study above": ("../s", nothing),
    "report: the page is a folder": ("s", folder_at("results/s/report.html")),
    "report: to a pipe": ("s --output out", piped("out")),
    "report: below a file": ("s --output out/a.html", occupied("out")),
    "report: to a name too long": ("s --output " + "a" * 300, nothing),
    "report: through a link": ("s", linked("results/s/report.html")),
    "findings: an escape": ("s", stated(says='"\\e[2J"')),
    "findings: names of several kinds": ("s", stated(", 1: 2, foo: 3")),
    "status: runs is a file": ("t", occupied("runs")),
    "compare: items are a folder": (
        "s rope alibi", folder_at("results/s/items/rope-cafe0123-s0__direct__nll.csv")
    ),
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
def test_what_lies_in_the_way_is_one_line(name, here, check):
    words, prepare = MISTAKES[name]
    prepare(here)
    program = name.partition(":")[0]
    check(lambda: COMMANDS[program](shlex.split(words)), name, "", f"extrap {program}")


STATES = {
    "state.json": '{"schema": 2, "state": "trained", "steps": 3, "files": {}, "seconds": VALUE}',
    "done/s__direct__nll.json": '{"config": "c", "rows": "r", "seconds": VALUE}',
    ".log.7.json": '{"phase": "nll", "total": 5, "done": VALUE, "left": VALUE}',
}


@pytest.mark.parametrize("value", ["Infinity", "-3", '"x"', "1" * 4000, "1e308"])
@pytest.mark.parametrize("name", STATES)
def test_a_number_that_is_none_is_left_out(name, value, here, capsys):
    said(STATES[name].replace("VALUE", value), name)(here)
    with lock.alone(here / "runs/rope-cafe0123-s0", "s__direct"):
        for words in ([], ["s"], ["s", "--json"]):
            assert outcome(status.main, words) == 0
    out, err = capsys.readouterr()
    assert err == "" and "rope-cafe0123-s0" in out
    json.loads(out[out.index("{") :], parse_constant=pytest.fail)


ENTRIES = {
    "a list": [],
    "tasks that are a list": {"tasks": ["nll"]},
    "a run above": {"run": "../x"},
    "a command that does not close": {"command": "extrap 'a"},
    "a command with an escape": {"command": "extrap \x1b[2J"},
    "a command that is a number": {"command": 5},
    "earlier commands that are a number": {"earlier": 5},
}


@pytest.mark.parametrize("name", ENTRIES)
def test_a_job_that_was_never_asked_for_so(name, here, capsys):
    plain = {"study": "s", "run": "rope-cafe0123-s0", "extension": "direct"}
    plain |= {"tasks": {"nll": "c"}, "command": "extrap"}
    entry = ENTRIES[name]
    path = here / "runs/.jobs/s/rope-cafe0123-s0__direct.json"
    write_json(path, plain | entry if isinstance(entry, dict) else entry)
    assert outcome(status.main, ["s"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and "\x1b" not in out and "rope-cafe0123-s0" in out


IN_A_RUN: dict[str, tuple[Callable[[str], Prepare], str, str]] = {
    "jobs of the study are a file": (occupied, "runs/.jobs/t", FILE),
    "the run is a file": (occupied, "runs/RUN", FILE),
    "its lock is a folder": (folder_at, "runs/RUN/.lock-t__direct", FOLDER),
    "its lock is a link": (linked, "runs/RUN/.lock-t__direct", "a link"),
    "its lock is a pipe": (piped, "runs/RUN/.lock-t__direct", "a pipe or a device"),
    "the lock of its training is a pipe": (piped, "runs/RUN/.lock", "a pipe or a device"),
}


@cache
def options() -> tuple[dict, dict]:
    return jobs.composed(*jobs.TINY, "study=t")


@pytest.mark.parametrize("name", IN_A_RUN)
def test_a_run_says_what_lies_in_its_way(name, elsewhere, capsys):
    this = make(*deepcopy(options()))
    prepare, path, line = IN_A_RUN[name]
    prepare(path.replace("RUN", this.run.name))(elsewhere)
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


def test_a_folder_that_is_gone_is_one_line(here, capsys):
    (here / "gone").mkdir()
    os.chdir(here / "gone")
    (here / "gone").rmdir()
    assert outcome(table.main, ["s"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder of Linux")
def test_a_working_folder_of_the_system_is_one_line(monkeypatch):
    monkeypatch.chdir("/proc")
    with pytest.raises(UserError, match=r"^/proc/runs: extrap cannot make a folder there; "):
        make_folder(Path("runs/rope-cafe0123-s0"))


def full() -> io.TextIOBase:
    return open("/dev/full", "w", encoding="utf-8")


def closed_pipe() -> io.TextIOBase:
    near, far = os.pipe()
    os.close(near)
    return os.fdopen(far, "w", encoding="utf-8")


def few_letters() -> io.TextIOBase:
    return io.TextIOWrapper(io.BytesIO(), encoding="ascii")


def asked_for_help(_: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        typed(patch, "--help")


TAKERS = {"a full disk": full, "a closed pipe": closed_pipe, "ASCII": few_letters, "none": None}
ENDS = {"a full disk": 2, "a closed pipe": 141}


@pytest.mark.sample(8)
@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize(
    "words", ["table s", "plot s loss_length", "status s", "findings s", "schemes", "--help"]
)
def test_what_is_printed_may_be_taken_by_nobody(words, taker, here, monkeypatch, capsys):
    stated(says="≤ ½")(here)
    monkeypatch.setattr(
        catalogue, "table", lambda *given: pd.DataFrame({"a–b": [1], "source": [2]})
    )
    program, *more = words.split()
    make = TAKERS[taker]
    monkeypatch.setattr(sys, "stdout", stream := make and make())
    assert outcome((COMMANDS | {"--help": asked_for_help})[program], more) == ENDS.get(taker, 0)
    err = [one.partition(": ")[2] for one in capsys.readouterr().err.splitlines()]
    told = ["a temporary file, or what is printed: the disk is full; make room, the same command "]
    assert [line[: len(told[0])] for line in err] == told * (taker == "a full disk")
    (stream or sys.stdout).close()  # Python does so at its end, and must meet nothing either
