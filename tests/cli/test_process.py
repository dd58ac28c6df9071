"""One job as a process: hung, out of memory, held by another process, finished by another sweep
meanwhile.
"""

import signal
from pathlib import Path
from types import SimpleNamespace

import pytest

from extrap.cli import sweep
from extrap.cli.sweep import memory, pool, process
from extrap.cli.sweep.display import Status
from extrap.cli.sweep.process import Process, State
from extrap.utils.errors import UserError
from tests.support.program import heeding


def run(*jobs: Process, n_jobs: int = 1) -> None:
    pool.run(list(jobs), n_jobs, Status(list(jobs)))


def job(tmp_path: Path, script: str, **more) -> Process:
    return Process("a", ["sh", "-c", script], tmp_path / "log.txt", State.WAITING, **more)


@pytest.mark.parametrize("script", ["exec sleep 60", "trap '' INT; while true; do sleep 1; done"])
def test_a_hung_job_is_stopped_even_a_deaf_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setattr(process, "PATIENCE", 0.3)
    told = []
    hung = job(tmp_path, script, limit=0.6, failed=told.append)
    run(hung)
    assert hung.state is State.FAILED
    assert (
        hung.reason
        == "stopped after 0.01 min (hydra.launcher.timeout_min); the same command continues"
    )
    assert told == [hung.reason]


@pytest.mark.parametrize("limit", [0, -1, True, "x"])
def test_a_time_limit_that_makes_no_sense(monkeypatch: pytest.MonkeyPatch, limit: object) -> None:
    monkeypatch.syspath_prepend(str(Path(sweep.__file__).parents[1] / "_plugins"))
    from hydra_plugins.extrap_local.launcher import LocalLauncher

    with pytest.raises(
        UserError,
        match=(
            f"hydra.launcher.timeout_min={limit}: must be a number of minutes above 0, or null "
            "for no limit"
        ),
    ):
        LocalLauncher(None, limit).launch([], 0)


def test_a_job_in_time_is_left_alone(tmp_path: Path) -> None:
    quick = job(tmp_path, "true", limit=60.0)
    run(quick)
    assert (quick.state, quick.reason) == (State.DONE, "")


def test_the_out_of_memory_killer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counters = tmp_path / "vmstat"
    counters.write_text("pgfault 12\noom_kill 4\nunevictable 0\n")
    monkeypatch.setattr(memory, "COUNTERS", counters)
    killed = job(tmp_path, "kill -KILL $$")
    run(killed)
    assert killed.reason == "killed by SIGKILL (out of memory?)"
    starved = job(tmp_path, f"echo oom_kill 5 > {counters}; kill -KILL $$")
    run(starved)
    assert starved.reason.startswith(
        "out of memory: the system killed it; run fewer side by side (hydra.launcher.n_jobs)"
    )
    monkeypatch.setattr(memory, "COUNTERS", tmp_path / "none")
    assert memory.kills() == 0


def test_output_of_every_attempt_is_kept_and_the_reason_is_of_the_last(tmp_path: Path) -> None:
    first, second = job(tmp_path, "echo one; exit 3"), job(tmp_path, "exit 4")
    run(first)
    run(second)
    assert (first.reason, second.reason) == ("exit code 3: one", "exit code 4")
    assert [line.split()[0] for line in (tmp_path / "log.txt").read_text().splitlines()] == [
        "---",
        "one",
        "---",
    ]


def test_a_path_may_be_any_bytes(tmp_path: Path) -> None:
    done = Process("path=t\udcff", ["true"], log := tmp_path / "log.txt", State.WAITING)
    run(done)
    assert done.state is State.DONE and r"path=t\udcff" in log.read_text()


def test_a_job_that_cannot_be_looked_at_fails_and_no_other(tmp_path: Path) -> None:
    def broken() -> State:
        raise UserError("extension/pi.yaml: line 2 is not YAML")

    told = []
    jobs = [
        Process(name, ["sleep", "0.5"], tmp_path / name, State.WAITING, readiness=readiness)
        for name, readiness in (("a", lambda: State.WAITING), ("b", broken), ("c", lambda: 1 / 0))
    ]
    jobs.append(Process("d", ["true"], tmp_path / "d", State.WAITING))
    jobs[1].failed = told.append
    run(*jobs)
    assert [j.state for j in jobs] == [State.DONE, State.FAILED, State.FAILED, State.DONE]
    assert jobs[1].reason == told[0] == "extension/pi.yaml: line 2 is not YAML"
    assert jobs[2].reason == "ZeroDivisionError: division by zero"


def test_a_job_waits_for_the_one_that_trains_its_run() -> None:
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
    job, other = (
        SimpleNamespace(
            overrides=[], entry=SimpleNamespace(run=run, folder=folder, busy=lambda: False)
        )
        for run in ("a", "b")
    )
    running = SimpleNamespace(state=State.RUNNING)
    assert reader._readiness(job, [(other, running)]) is State.WAITING
    assert reader._readiness(job, [(other, running), (job, running)]) is State.HELD
    folder.trained = True
    assert reader._readiness(job, [(job, running)]) is State.WAITING


def test_what_another_process_holds_comes_later_and_what_it_finished_is_skipped(
    tmp_path: Path, capsys
) -> None:
    looks = iter([State.HELD, State.HELD, State.SKIPPED])
    held = job(tmp_path, "exit 1", readiness=lambda: next(looks))
    free = Process("b", ["true"], tmp_path / "b.txt", State.WAITING)
    run(held, free)
    assert (held.state, free.state) == (State.SKIPPED, State.DONE)
    said = [line.split("  ")[0] for line in capsys.readouterr().err.splitlines()]
    assert said == ["[1/2] held a", "[2/2] start b", "[2/2] done b", "[1/2] skipped a"]


def test_what_another_sweep_began_since_it_started_comes_later(tmp_path: Path, capsys) -> None:
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


@pytest.mark.parametrize(
    ("begun", "end"), [("", "killed by SIGINT"), ("train", "killed by SIGKILL (out of memory?)")]
)
def test_a_signal_that_an_import_lost_is_sent_again_and_no_second_one_to_a_job_at_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys, begun: str, end: str
) -> None:
    """The job is deaf to the first."""
    monkeypatch.setattr(pool, "AGAIN", 0.2)
    monkeypatch.setattr(pool, "GRACE", 60.0 if not begun else 1.0)
    says = f"""echo '{{"phase": "{begun}"}}' > $EXTRAP_PROGRESS;""" if begun else ""
    deaf = job(
        tmp_path,
        f"{says} trap 'trap - INT' INT; kill -INT $PPID; while true; do sleep 0.05; done",
    )
    with heeding(signal.SIGINT), pytest.raises(KeyboardInterrupt):
        run(deaf)
    assert deaf.reason == end
    assert "extrap: waiting for the jobs to finish" in capsys.readouterr().err
