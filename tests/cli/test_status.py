"""What a sweep says of itself, from made-up jobs."""

import json
import time
from pathlib import Path

import pytest

from extrap.cli.sweep.display import Status, clock, line, summary, time_left
from extrap.cli.sweep.process import Process, State, file_name, labels
from extrap.runs.study import Entry
from extrap.utils import cores


def job(
    tmp_path: Path,
    label: str,
    state: State,
    seconds: float = 0.0,
    began: float = 0.0,
    reason: str = "",
    entry: Entry | None = None,
) -> Process:
    log = tmp_path / f"{label}.log"
    return Process(label, ["/nonexistent/program"], log, state, reason, began, seconds, entry=entry)


def test_line_counts_and_shows_what_runs(tmp_path):
    running = job(tmp_path, "t5", State.RUNNING, began=time.monotonic())
    running._report.write_text(
        json.dumps({"phase": "train", "done": 9, "total": 20, "note": "loss 2.1"}), encoding="utf-8"
    )
    jobs = [
        job(tmp_path, "a", State.SKIPPED),
        job(tmp_path, "b", State.FAILED),
        running,
        job(tmp_path, "c", State.WAITING),
    ]
    assert line(jobs, 2) == "0/4 done, 1 skipped, 1 failed | t5: train 45 % loss 2.1"


def test_a_started_job_is_shown_at_once_however_short_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        time, "monotonic", lambda: 100.0
    )  # no time passes between what happens here
    jobs = [job(tmp_path, "a", State.RUNNING, began=100), job(tmp_path, "b", State.WAITING)]
    live = Status(jobs, 1, live=True)
    live.tick()
    jobs[0].state, jobs[0].reason = State.FAILED, "no"
    live.ended(jobs[0])
    live.tick()
    jobs[1].state = State.RUNNING
    live.started(jobs[1])
    live.tick()
    live.tick()
    drawn = capsys.readouterr().err.split("\r\x1b[2K")[1:]
    assert drawn == [
        "0/2 done | a: starting",
        "failed a: no\n",
        "0/2 done, 1 failed",
        "0/2 done, 1 failed | b: starting",
    ]


def test_time_left_is_the_rest_of_the_running_and_all_of_the_waiting(tmp_path, monkeypatch):
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    done, running = (
        job(tmp_path, "a", State.DONE, seconds=60),
        job(tmp_path, "b", State.RUNNING, began=80),
    )
    waiting = [job(tmp_path, "c", State.WAITING), job(tmp_path, "d", State.WAITING)]
    assert time_left([running, *waiting], 2) is None
    assert time_left([done, running, *waiting], 2) == (40 + 2 * 60) / 2
    assert time_left([done, running], 2) == 40


def test_time_left_before_the_first_job_is_done(tmp_path, monkeypatch, capsys):
    """At the pace of what runs, and at least so much."""
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    running = job(tmp_path, "a", State.RUNNING, began=80)
    jobs = [running, job(tmp_path, "b", State.WAITING), job(tmp_path, "c", State.WAITING)]
    assert time_left(jobs, 2) is None
    said = {"phase": "train", "done": 1, "total": 9, "note": "", "left": 40.0}
    running._report.write_text(json.dumps(said))
    assert time_left(jobs, 2) == (40 + 2 * 60) / 2
    assert line(jobs, 2) == "0/3 done, over 1:20 left | a: train 11 %"
    lines = Status(jobs, 2)
    lines.tick()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(time, "monotonic", lambda: 161.0)
    lines.tick()
    lines.tick()
    [said] = capsys.readouterr().err.splitlines()
    assert said.startswith("0/3 done, over ") and said.endswith(" | a: train 11 %")


def test_a_sweep_ends_with_what_shows_its_rows(tmp_path):
    entries = [Entry("s", "rope-1-s0", "direct", {"kv": "x"}), None, Entry("t", "r", "direct", {})]
    jobs = [
        job(tmp_path, name, State.DONE, entry=e) for name, e in zip("abc", entries, strict=True)
    ]
    assert summary(jobs, 60).splitlines() == [
        "rows: results/s/rows; extrap plot s draws, extrap table s prints",
        "3 jobs in 1:00: 3 done, 0 skipped, 0 failed",
    ]


def test_clock():
    assert [clock(s) for s in (0.4, 59.6, 247, 3847)] == ["0:00", "1:00", "4:07", "1:04:07"]


def test_labels_are_what_differs():
    assert labels([["study=x", "scheme=rope", "seed=0"], ["study=x", "scheme=rope", "seed=1"]]) == [
        "seed=0",
        "seed=1",
    ]
    assert labels([["study=x", "scheme=rope"]]) == ["study=x scheme=rope"]
    assert labels([[]]) == ["defaults"]


def test_file_names_are_safe_short_and_different():
    assert (
        file_name(3, "scheme=rope data/corpus=files data.corpus.path='/a b'")
        == "003-scheme=rope,data,corpus=files,data.corpus.path=,a,b,.log"
    )
    assert len(file_name(1, "x" * 500)) < 100
    assert file_name(1, "x" * 500) != file_name(2, "x" * 500)


@pytest.mark.parametrize(
    ("quota", "allowed"),
    [("150000 100000\n", 1), ("300000 100000\n", 3), ("50000 100000\n", 1), ("max 100000\n", 8)],
)
def test_cores_respect_the_quota_of_a_container(tmp_path, monkeypatch, quota, allowed):
    file = tmp_path / "cpu.max"
    file.write_text(quota, encoding="utf-8")
    monkeypatch.setattr(cores, "QUOTA", file)
    monkeypatch.setattr(cores.os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert cores.cores() == allowed
    monkeypatch.setenv(cores.SHARE, "2")
    assert cores.cores() == min(2, allowed), "in a job of a sweep"
    monkeypatch.setenv(cores.SHARE, "0")
    assert cores.cores() == 1
    for rubbish in ("", "many", "-3", "1.5"):
        monkeypatch.setenv(cores.SHARE, rubbish)
        assert cores.cores() == allowed
