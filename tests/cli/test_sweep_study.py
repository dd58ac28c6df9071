"""Sweeps of real processes over a study: side by side, failed, hung, started again."""

import pytest

from extrap.runs.folder import read_json
from tests.support.jobs import TINY
from tests.support.program import Program, python

TWO = "hydra.launcher.n_jobs=2"


def state(worker: Program, run: str) -> dict:
    return read_json(worker.work / "runs" / run / "failed.json")


@pytest.mark.turns
def test_two_sweeps_at_once_do_every_job_once(worker):
    words = ["-m", "name=a,b,c,d", "act=slow", TWO]
    first, second = worker.start(*words), worker.start(*words)
    outputs = [sweep.communicate(timeout=300) for sweep in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0), outputs
    assert sorted(worker.events()) == sorted(
        f"{what} {name}-s0" for what in ("start", "end") for name in "abcd"
    )
    done = [int(err.rsplit(" done, ", 1)[0].rsplit(" ", 1)[1]) for _, err in outputs]
    assert sum(done) == 4
    asked = sorted((worker.work / "runs" / ".jobs" / "s").iterdir())
    assert [path.name for path in asked] == [f"{name}-s0__direct.json" for name in "abcd"]
    assert {read_json(path)["command"] for path in asked} == {
        "extrap -m name=a,b,c,d act=slow hydra.launcher.n_jobs=2"
    }


@pytest.mark.turns
def test_a_failed_job_keeps_its_reason_and_is_tried_again(worker):
    failed = worker("-m", "name=a,b", "act=exit", TWO)
    assert failed.returncode == 1
    assert state(worker, "a-s0") == {"reason": "exit code 3: last words"}
    log = worker.work / "runs" / "a-s0" / "log.txt"
    assert f"         {log.relative_to(worker.work)}" in failed.stderr.splitlines()
    again = worker("-m", "name=a,b", "act=work", TWO)
    assert again.returncode == 0, again.stderr
    assert state(worker, "a-s0") == {}
    assert log.read_text().count("---") == 2
    skipped = worker("-m", "name=a,b", TWO)
    assert "0 done, 2 skipped, 0 failed" in skipped.stderr
    assert worker.events().count("start a-s0") == 2


@pytest.mark.turns
def test_a_sweep_that_would_write_over_its_own_rows_is_refused(tmp_path):
    """The name of a file does not say with which options a task was asked."""
    words = ["-m", "study=q", *TINY, "task.kv.pairs=2,4"]
    done = python("-P", "-m", "extrap", *words, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith(
        "extrap: task.kv.pairs=4: writes over the rows of task.kv.pairs=2 (task kv, study q); sweep"
    )
    assert not (tmp_path / "results").exists() and not [*tmp_path.glob("runs/rope*")]
