"""One job as a process: failed, held by another process, finished by another sweep meanwhile."""

import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

from extrap.cli.sweep import pool
from extrap.cli.sweep.display import Status
from extrap.cli.sweep.process import Process, State
from extrap.utils.errors import UserError
from tests.support.program import heeding


def run(*jobs: Process, n_jobs: int = 1) -> None:
    pool.run(list(jobs), n_jobs, Status(list(jobs)))


def job(tmp_path: Path, script: str, **more) -> Process:
    return Process("a", ["sh", "-c", script], tmp_path / "log.txt", State.WAITING, **more)


def test_output_of_every_attempt_is_kept_and_the_reason_is_of_the_last(tmp_path):
    first, second = job(tmp_path, "echo one; exit 3"), job(tmp_path, "exit 4")
    run(first)
    run(second)
    assert (first.reason, second.reason) == ("exit code 3: one", "exit code 4")
    assert [line.split()[0] for line in (tmp_path / "log.txt").read_text().splitlines()] == [
        "---",
        "one",
        "---",
    ]


def test_a_path_may_be_any_bytes(tmp_path):
    done = Process("path=t\udcff", ["true"], log := tmp_path / "log.txt", State.WAITING)
    run(done)
    assert done.state is State.DONE and r"path=t\udcff" in log.read_text()


def test_a_job_that_cannot_be_looked_at_fails_and_no_other(tmp_path):
    def broken() -> State:
        raise UserError("extension/pi.yaml: line 2 is not YAML")

    told = SimpleNamespace(reasons=[])
    told.fail = told.reasons.append
    jobs = [
        Process(name, ["sleep", "0.5"], tmp_path / name, State.WAITING, readiness=readiness)
        for name, readiness in (("a", lambda: State.WAITING), ("b", broken), ("c", lambda: 1 / 0))
    ]
    jobs.append(Process("d", ["true"], tmp_path / "d", State.WAITING))
    jobs[1].entry = told
    run(*jobs)
    assert [j.state for j in jobs] == [State.DONE, State.FAILED, State.FAILED, State.DONE]
    assert jobs[1].reason == told.reasons[0] == "extension/pi.yaml: line 2 is not YAML"
    assert jobs[2].reason == "ZeroDivisionError: division by zero"


def test_a_job_waits_for_the_one_that_trains_its_run():
    """It would take a place, and wait there for the lock of the run."""
    from hydra_plugins.extrap_local.reading import Reader

    class Asked(Reader):
        def __init__(self) -> None:
            pass

        def _composed(self, overrides):
            return None

    reader = Asked()
    reader.program = SimpleNamespace(prepare=lambda cfg: SimpleNamespace(finished=lambda: False))
    folder = SimpleNamespace(trained=False)
    job, other, same = (
        SimpleNamespace(
            state=state,
            overrides=[],
            entry=SimpleNamespace(run=run, folder=folder, busy=lambda: False),
        )
        for run, state in (("a", State.WAITING), ("b", State.RUNNING), ("a", State.RUNNING))
    )
    assert reader._readiness(job, [job, other]) is State.WAITING
    assert reader._readiness(job, [job, other, same]) is State.HELD
    folder.trained = True
    assert reader._readiness(job, [job, same]) is State.WAITING


def test_what_another_process_holds_comes_later_and_what_it_finished_is_skipped(tmp_path, capsys):
    looks = iter([State.HELD, State.HELD, State.SKIPPED])
    held = job(tmp_path, "exit 1", readiness=lambda: next(looks))
    free = Process("b", ["true"], tmp_path / "b.txt", State.WAITING)
    run(held, free)
    assert (held.state, free.state) == (State.SKIPPED, State.DONE)
    said = [line.split("  ")[0] for line in capsys.readouterr().err.splitlines()]
    assert said == ["[1/2] held a", "[2/2] start b", "[2/2] done b", "[1/2] skipped a"]


def test_what_another_sweep_began_since_it_started_comes_later(tmp_path, capsys):
    late = job(
        tmp_path,
        f"[ -e {tmp_path}/again ] && exit; touch {tmp_path}/again; "
        """echo '{"phase": "held"}' > $EXTRAP_PROGRESS""",
    )
    run(late, Process("b", ["true"], tmp_path / "b.txt", State.WAITING))
    assert late.state is State.DONE
    said = [line.split("  ")[0] for line in capsys.readouterr().err.splitlines()]
    assert said == [
        "[1/2] start a",
        "[1/2] held a",
        "[2/2] start b",
        "[2/2] done b",
        "[1/2] start a",
        "[1/2] done a",
    ]


@pytest.mark.parametrize(("begun", "end"), [("", "SIGKILL"), ("train", "SIGINT")])
def test_an_interrupt_lets_a_job_at_work_finish_and_ends_one_that_has_not_begun(
    tmp_path, capsys, begun, end
):
    says = f"""echo '{{"phase": "{begun}"}}' > $EXTRAP_PROGRESS;""" if begun else ""
    started = job(tmp_path, f"{says} kill -INT $PPID; while true; do sleep 0.05; done")
    with heeding(signal.SIGINT), pytest.raises(KeyboardInterrupt):
        run(started)
    assert started.reason.startswith(f"killed by {end}")
    assert "extrap: waiting for the jobs to finish" in capsys.readouterr().err
