"""Sweeps on a cluster of fake commands on the PATH, and with submitit's local executor."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from hydra.errors import MissingConfigException

from extrap.cli.hydra_errors import explain
from extrap.runs.folder import read_json
from tests.support import cluster
from tests.support.program import until

pytest.importorskip(
    "hydra_plugins.hydra_submitit_launcher", reason="the extra `slurm` is not installed"
)

SLURM = "hydra/launcher=slurm"


@pytest.fixture
def slurm(worker, tmp_path):
    environment = cluster.build(tmp_path / "cluster")
    return replace(
        worker,
        environment=environment
        | {"PATH": f"{tmp_path / 'cluster'}{os.pathsep}{os.environ['PATH']}"},
    )


def script(tmp_path: Path) -> str:
    return (tmp_path / "cluster" / "script.sh").read_text()


def test_jobs_that_are_left_become_one_array(slurm, tmp_path):
    assert slurm("name=b").returncode == 0
    done = slurm(
        "-m",
        "name=a,b,c",
        SLURM,
        "hydra.launcher.partition=gpu",
        "hydra.launcher.account=me",
        "threads=2",
    )
    assert done.returncode == 0, done.stderr
    assert "2 done, 1 skipped, 0 failed" in done.stderr
    assert sorted(slurm.events()) == sorted(
        f"{what} {name}-s0" for what in ("start", "end") for name in "abc"
    )
    for line in (
        "--array=0-1%2",
        "--partition=gpu",
        "--account=me",
        "--cpus-per-task=2",
        "--signal=USR2@120",
        "--time=240",
    ):
        assert f"#SBATCH {line}\n" in script(tmp_path)


def test_nothing_is_queued_through_a_link(slurm, tmp_path):
    (tmp_path / "outside").mkdir()
    (slurm.work / "runs").mkdir()
    (slurm.work / "runs/.sweep").symlink_to(tmp_path / "outside")
    done = slurm("-m", "name=a,b", SLURM)
    assert done.returncode == 2 and "runs/.sweep: a link" in done.stderr
    assert list((tmp_path / "outside").iterdir()) == []


def test_more_jobs_than_an_array_takes_become_several(monkeypatch):
    arrays: list[list[int]] = []

    class Executor:
        @contextmanager
        def batch(self) -> Iterator[None]:
            arrays.append([])
            yield

        def submit(self, one: int) -> int:
            arrays[-1].append(one)
            return -one

    slurm = import_module("hydra_plugins.extrap_local.slurm")
    monkeypatch.setattr(slurm, "MOST", 3)
    assert slurm.queue(Executor(), range(1, 8)) == [-1, -2, -3, -4, -5, -6, -7]
    assert arrays == [[1, 2, 3], [4, 5, 6], [7]]


def test_a_job_that_fails_on_its_node_is_told_and_noted(slurm):
    done = slurm("-m", "act=exit", SLURM)
    assert done.returncode == 1
    assert "  failed act=exit: exit code 3: last words" in done.stderr.splitlines()
    assert read_json(slurm.work / "runs" / "a-s0" / "failed.json") == {
        "reason": "exit code 3: last words"
    }


def test_a_preempted_job_ends_cleanly_goes_into_the_queue_again_and_continues(slurm, tmp_path):
    sweep = slurm.start("-m", "name=a,b", "act=once", SLURM)
    until(lambda: len(list((slurm.work / "runs").glob("*/first.txt"))) == 2)
    for task in (0, 1):
        os.kill(int((tmp_path / "cluster" / f"pid-{task}").read_text()), signal.SIGUSR2)
    _, err = sweep.communicate(timeout=300)
    assert sweep.returncode == 0, err
    assert "2 done, 0 skipped, 0 failed" in err
    assert sorted((tmp_path / "cluster" / "requeued").read_text().split()) == ["4242_0", "4242_1"]
    assert sorted(slurm.events()) == sorted(
        ["start a-s0", "end a-s0", "start b-s0", "end b-s0"] * 2
    )
    assert not list((slurm.work / "runs").glob("*/failed.json"))


def test_a_machine_without_slurm_is_told_in_one_line(worker, tmp_path):
    done = replace(worker, environment={"PATH": str(tmp_path)})("-m", "act=work", SLURM)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert line.startswith("extrap: hydra/launcher=slurm: ")
    assert line.endswith("; start the sweep where `sbatch` works")


def test_without_the_extra_it_is_named():
    missing = MissingConfigException(
        "In 'hydra/launcher/slurm': ...", "hydra/launcher/submitit_slurm", ["local", "slurm"]
    )
    assert (
        explain(missing, [SLURM], "")
        == "hydra/launcher=slurm: needs hydra-submitit-launcher; pip install 'extrap[slurm]'"
    )


@pytest.mark.turns
def test_the_launchers_of_submitit_run_the_program_as_it_is(worker):
    done = worker("-m", "name=a,b", "hydra/launcher=submitit_local", "hydra.launcher.timeout_min=5")
    assert done.returncode == 0, done.stderr
    assert sorted(worker.events()) == ["end a-s0", "end b-s0", "start a-s0", "start b-s0"]
