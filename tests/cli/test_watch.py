"""What a sweep makes of the states of a queue, without a cluster."""

from collections.abc import Iterator

import pytest

from extrap.cli.sweep import watch
from extrap.cli.sweep.display import Status
from extrap.cli.sweep.process import Process, State
from extrap.cli.sweep.watch import Watch
from extrap.runs.folder import write_json
from extrap.runs.study import Entry

States = dict[str, tuple[str, str]] | None


@pytest.fixture
def job() -> Process:
    return Process("a", [], Entry("s", "a-s0", "direct", {}))


@pytest.fixture
def wait(elsewhere, job, monkeypatch):
    """Waits for a job 7_0 that passes through these states, and hands back `reason` in the last."""
    for name in ("PAUSE", "LEAST", "MOST"):
        monkeypatch.setattr(watch, name, 0.0)
    (elsewhere / "outcomes").mkdir()

    def waits(*states: States, reason: str | None = None, held: bool = False) -> Process:
        answers = said(states, reason, held)
        Watch({"7_0": job}, elsewhere, Status([job]), lambda: next(answers)).wait()
        return job

    def said(states: tuple[States, ...], reason: str | None, held: bool) -> Iterator[States]:
        yield from states[:-1]
        if reason is not None:
            write_json(elsewhere / "outcomes" / "0.json", {"reason": reason, "held": held})
        while True:
            yield states[-1]

    return waits


RUNS = {"7_0": ("RUNNING", "None")}
WAITS = {"7_0": ("PENDING", "BeginTime")}
FAILED = {"7_0": ("FAILED", "NonZeroExitCode")}


@pytest.mark.parametrize("reason", ["", "exit code 3"])
@pytest.mark.parametrize("last", [RUNS, {"7_0": ("COMPLETED", "None")}, {}, None])
def test_the_outcome_of_a_job(wait, last, reason):
    job = wait(RUNS, last, reason=reason)
    assert (job.state, job.reason) == (State.FAILED if reason else State.DONE, reason)


def test_a_job_that_left_its_node_to_another_process_is_held(wait, capsys):
    assert wait(RUNS, FAILED, reason="", held=True).state is State.HELD
    assert "[1/1] held a  (another process works on it)" in capsys.readouterr().err


def test_a_job_that_is_queued_again_has_not_failed(wait, capsys):
    job = wait(RUNS, FAILED, WAITS, RUNS, {"7_0": ("NODE_FAIL", "")}, WAITS, None, reason="")
    assert job.state is State.DONE
    said = capsys.readouterr().err.splitlines()
    assert [line.partition("  (")[0] for line in said if line.startswith("[")] == [
        "[1/1] start a",
        "[1/1] queued again a",
        "[1/1] start a",
        "[1/1] queued again a",
        "[1/1] done a",
    ]


@pytest.mark.parametrize("state", ["FAILED", "TIMEOUT", "OUT_OF_MEMORY", "CANCELLED", "NODE_FAIL"])
def test_a_job_that_the_cluster_ends(wait, elsewhere, state):
    (elsewhere / "7_0_0_log.err").write_text("slurmstepd: error: why\nsrun: error: task 0\n\n")
    job = wait(RUNS, {"7_0": (state, "")})
    assert (job.state, job.reason) == (State.FAILED, f"SLURM: {state}: slurmstepd: error: why")
    assert job.entry.folder.failure("direct") == job.reason


def test_the_last_line_of_the_log_of_a_job(wait, job):
    job.entry.log.parent.mkdir(parents=True)
    job.entry.log.write_text("train: 45 %\n--- 2026-11-26 06:47:27 a\n")
    assert wait(FAILED).reason == "SLURM: FAILED: train: 45 %"


@pytest.mark.parametrize(
    "state, nodes", [({"7_0": ("COMPLETED", "None")}, 1), ({}, 1), (FAILED, 2)]
)
def test_a_disk_has_time_to_show_an_outcome(wait, job, state, nodes):
    job.nodes = nodes
    assert wait(*[state] * 5, reason="").state is State.DONE


@pytest.mark.parametrize(
    "state, said", [({"7_0": ("COMPLETED", "None")}, "COMPLETED"), ({}, "left the queue")]
)
def test_a_job_without_an_outcome_has_failed(wait, state, said, monkeypatch):
    monkeypatch.setattr(watch, "LATE", 0.0)
    assert wait(RUNS, state).reason == f"SLURM: {said}"


def test_the_display_names_the_reason_once(wait, capsys):
    blocked = {"7_0": ("PENDING", "PartitionConfig")}
    wait(blocked, blocked, None, blocked, reason="")
    said = capsys.readouterr().err
    assert said.count("0/1 done, 1 in the queue (PENDING: PartitionConfig)") == 1
