"""keep_going=true: a task that cannot be asked is one line, the others are measured."""

import gzip
import json

import pandas as pd
import pytest

from extrap.runs import validate
from extrap.runs.experiment import work
from extrap.utils.errors import UserError
from tests.support.jobs import job

RECORD = {"ordered_kv_records": [["a" * 8, "b" * 8], ["c" * 8, "d" * 8]], "key": "a" * 8}


def refused(words: list[str], said: str, asked: list[str]) -> None:
    with pytest.raises(UserError, match=said):
        validate.check(job(*words))
    with pytest.warns(UserWarning, match=said):
        validate.check(left := job(*words, "keep_going=true"))
    assert list(left.tasks) == asked and len(left.refused) == 1
    assert "\n" not in str(*left.refused.values())


def test_an_option_of_one_task_leaves_the_others():
    """Other mistakes: tests/faults/cases_options.py."""
    for option in ("task.kv.pairs=32", "task.kv.trials=2.5"):  # met by its check, by its class
        refused(["task=[nll,kv]", option], option.partition("=")[0], ["nll"])


def test_a_file_of_one_task_leaves_the_others(tmp_path):
    """Other damaged files: tests/faults/cases_files.py."""
    path = tmp_path / "records.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(RECORD).encode() + b"\n"))
    words = ["task=[lost-in-the-middle,nll,kv]", f"task.lost-in-the-middle.path={path}"]
    refused(words, "records.jsonl.gz", ["nll", "kv"])


def test_with_no_task_left_nothing_starts():
    with pytest.raises(UserError, match=r"task\.kv\.pairs=32"):
        validate.check(job("task.nll.stride=0", "task.kv.pairs=32", "keep_going=true"))


def test_what_is_left_is_measured_and_the_rest_still_wanted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = job("task=[kv,nll]", "task.kv.pairs=32", "keep_going=true")
    for _ in range(2):  # again, nothing is left but what is refused
        with pytest.raises(
            UserError, match=r"^task\.kv\.pairs=32: .*; the other tasks were asked$"
        ):
            work(asked)
    (path,) = asked.results.glob("rows/*__nll.csv")
    assert len(pd.read_csv(path)) and not [*asked.results.glob("rows/*__kv.csv")]
    mended = job("task=[kv,nll]")
    before = path.stat().st_mtime_ns
    work(mended)
    assert [*asked.results.glob("rows/*__kv.csv")] and path.stat().st_mtime_ns == before
