"""What is printed may be taken by nobody: a full disk, a closed pipe, ASCII."""

import io
import os
import sys

import pandas as pd
import pytest

from extrap.audit import catalogue
from tests.faults.test_in_the_way import COMMANDS, STATEMENT, outcome, stated, study
from tests.support.program import typed


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study(tmp_path)
    return tmp_path


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


PRINTING = ["table s", "table s --json", "plot --list", "plot s loss_length", "status s"]


PRINTING += ["compare s rope alibi", "findings s", "schemes", "--help"]


FULL = "a temporary file, or what is printed: the disk is full"


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", PRINTING)
@pytest.mark.parametrize(
    ("make", "code", "line"),
    [(full, 2, FULL), (closed_pipe, 141, ""), (few_letters, 0, ""), (lambda: None, 0, "")],
    ids=["a full disk", "a closed pipe", "ASCII", "nothing"],
)
def test_what_is_printed_may_be_taken_by_nobody(name, make, code, line, here, monkeypatch, capsys):
    stated(statement=STATEMENT.replace("says: b", "says: ≤ ½"))(here)
    monkeypatch.setattr(
        catalogue, "table", lambda *given: pd.DataFrame({"a–b": [1], "source": [2]})
    )
    program, *words = name.split()
    call = (COMMANDS | {"--help": asked_for_help})[program]
    stream = make()
    monkeypatch.setattr(sys, "stdout", stream)
    assert outcome(call, words) == code
    err = [one for one in capsys.readouterr().err.splitlines() if "scores of single" not in one]
    assert [one.partition(": ")[2].startswith(line) for one in err] == [True] * bool(line)
    (stream or sys.stdout).close()  # Python does so at its end, and must meet nothing either
