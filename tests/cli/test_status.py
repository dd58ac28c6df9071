"""What a sweep says of itself, from made-up jobs."""

import json
import time

import pytest

from extrap.cli.sweep.display import Status, by_pace, foreseen, line, summary, time_left
from extrap.cli.sweep.process import Process, State
from extrap.runs.folder import write_json
from extrap.runs.study import Entry
from extrap.utils import cores


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def job(
    label: str,
    state: State = State.WAITING,
    seconds: float = 0.0,
    began: float = 0.0,
    tasks: dict[str, str] | None = None,
) -> Process:
    command = ["/nonexistent/program"]
    entry = Entry(f"of-{label}", label, "direct", tasks or {})
    return Process(label, command, entry, state, "", began, seconds)


def says(job: Process, **report: object) -> None:
    job.entry.folder.folder.mkdir(parents=True)
    job.entry.report.write_text(json.dumps(report), encoding="utf-8")


def test_time_left_is_the_rest_of_the_running_and_all_of_the_waiting(monkeypatch):
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    done, running = (
        job("a", State.DONE, seconds=60),
        job("b", State.RUNNING, began=80),
    )
    waiting = [job("c"), job("d")]
    assert time_left([running, *waiting], 2) is None
    assert time_left([done, running, *waiting], 2) == (40 + 2 * 60) / 2
    assert time_left([done, running], 2) == 40


def test_finished_jobs_say_before_the_start_how_long_a_sweep_takes():
    ended, senseless = job("a", State.SKIPPED), job("b", State.SKIPPED)
    senseless.reason = "makes no sense"
    waiting = [job(label) for label in "cde"]
    assert foreseen([ended, senseless, *waiting], 2) is None, "nothing says what a took"
    folder = ended.entry.folder
    folder.folder.mkdir(parents=True)
    folder.weights.touch()
    trained = {"schema": 2, "state": "trained", "steps": 1, "files": {}, "seconds": 3600.0}
    write_json(folder.folder / "state.json", trained)
    said = "3 jobs, 2 side by side, about 1:30:00 by 1 finished one"
    assert foreseen([ended, senseless, *waiting], 2) == said
    assert (
        foreseen([ended, *waiting[:1]], 8)
        == "1 job, 1 side by side, about 1:00:00 by 1 finished one"
    )
    assert foreseen([ended, senseless], 2) is None


def test_without_a_terminal_a_line_a_minute_says_how_far_it_is(monkeypatch, capsys):
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    running = job("a", State.RUNNING, began=80)
    says(running, phase="train", done=1, total=9, note="", left=40.0)
    lines = Status([running, job("b")], 2)
    lines.tick()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(time, "monotonic", lambda: 161.0)
    lines.tick()
    lines.tick()
    assert capsys.readouterr().err == "0/2 done | a: train 11 %\n"


@pytest.mark.parametrize("live", [False, True])
def test_what_a_job_wants_known_is_said_once(live, capsys):
    jobs = [job(label, State.RUNNING) for label in "abc"]
    for one, told in zip(jobs, ("takes\x1b days", "takes\x1b days", 3), strict=True):
        says(one, phase="train", done=1, total=9, note="", told=told)
    lines = Status(jobs, 3, live)
    for _ in range(2):
        lines.now()
        lines.tick()
    said = capsys.readouterr().err
    assert said.count("a: takes\\x1b days\n") == said.count("takes") == 1


def test_a_sweep_ends_with_what_shows_its_rows():
    jobs = [job("a", State.DONE, tasks={"kv": "x"}), job("b", State.DONE), job("c", State.DONE)]
    assert summary(jobs, 60).splitlines() == [
        "rows: results/of-a/rows; extrap plot of-a draws, extrap table of-a prints",
        "3 jobs in 1:00: 3 done, 0 skipped, 0 failed",
    ]


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


def test_the_first_steps_say_how_long_a_sweep_will_take(monkeypatch):
    """36 jobs, 8 side by side: 4.5 rounds of 10 minutes, 12 s of the first over."""
    jobs = [Process(f"seed={n}", [], Entry("s", f"a-s{n}", "direct", {})) for n in range(36)]
    report = {"phase": "train", "done": 29, "total": 1500, "left": 588.0}
    monkeypatch.setattr(Process, "progress", lambda job: report)
    for one in jobs[:8]:
        one.state, one.began = State.RUNNING, time.monotonic() - 12
    assert time_left(jobs, 8) is None
    report["done"] = 30
    assert time_left(jobs, 8) == pytest.approx(36 / 8 * 600 - 12, abs=5)
    assert " left by the pace of the first steps | " in line(jobs, 8)
    report["left"] = "soon"
    assert time_left(jobs, 8) is None


@pytest.mark.parametrize("live", [False, True])
def test_a_fresh_sweep_says_once_how_long_it_will_train(monkeypatch, capsys, live):
    jobs = [Process(f"seed={n}", [], Entry("s", f"a-s{n}", "direct", {})) for n in range(3)]
    report = {"phase": "train", "done": 30, "total": 1230, "left": 1200.0}
    monkeypatch.setattr(Process, "progress", lambda job: report)
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    jobs[0].state, jobs[0].began = State.RUNNING, 60.0
    shown = Status(jobs, 2, live, foretells=True)
    for _ in range(2):
        shown.now()
        shown.tick()
    said = "extrap: 3 jobs, 2 side by side, about 30:40 by the rate of the first steps"
    assert capsys.readouterr().err.count(f"{said}, without evaluation\n") == 1
    report["phase"] = "nll"
    assert by_pace(jobs, 2) is None, "it trains nothing"
    report["phase"], jobs[1].state = "train", State.DONE
    assert by_pace(jobs, 2) is None


def test_a_run_that_goes_on_at_its_end_stands_for_a_whole_one(monkeypatch):
    """It began 20 s ago at 90 %, and takes 10 s for a percent; so will another, which waits."""
    resumed, waiting = job("a", State.RUNNING, began=80.0), job("b")
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    says(resumed, phase="train", done=920, total=1000, left=80.0)
    assert time_left([resumed], 1) == pytest.approx(80)
    assert time_left([resumed, waiting], 1) == pytest.approx(80 + 1000)
    resumed.state, resumed.seconds = State.DONE, 100.0
    assert time_left([resumed, waiting], 1) == pytest.approx(1000)
