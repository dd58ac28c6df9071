"""Sweeps in the queue of a real SLURM of one node, and of two (tests/support/slurm.py)."""

import os
import re
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from extrap.cli.sweep import slurm as queue
from extrap.cli.sweep.slurm_options import Place, SlurmOptions
from extrap.runs.folder import read_json
from extrap.utils import lock
from extrap.utils.errors import UserError
from tests.support import slurm
from tests.support.jobs import TINY, equal
from tests.support.program import Program, python, until

pytestmark = pytest.mark.skipif(bool(slurm.missing()), reason=f"no {slurm.missing()} here")

SLURM = "hydra/launcher=slurm"


@pytest.fixture(scope="module")
def daemons(tmp_path_factory) -> Iterator[slurm.Cluster]:
    with slurm.started(tmp_path_factory.mktemp("slurm")) as cluster:
        yield cluster


@pytest.fixture
def cluster(daemons) -> Iterator[slurm.Cluster]:
    yield daemons
    daemons.clear()


@pytest.fixture
def sweep(worker, cluster) -> Program:
    return replace(worker, environment=cluster.environment)


def begun(program: Program, *names: str) -> None:
    """Waits for jobs `act=once` in their first attempt."""
    files = [program.work / "runs" / f"{name}-s0" / "first.txt" for name in names]
    until(lambda: all(file.exists() for file in files), 120)


def numbers(cluster: slurm.Cluster, count: int) -> list[str]:
    """Returns the numbers of the running jobs, in the order of the sweep."""
    found = sorted(number for number, state in cluster.jobs().items() if state == "RUNNING")
    assert len(found) == count, cluster.jobs()
    return found


@pytest.mark.turns
def test_what_the_cluster_does_to_a_job(sweep, cluster):
    """a is put into the queue again, b gets the signal before the end of its time, c is cancelled,
    the process of d is killed on its node.
    """
    file = sweep.work / "said.txt"
    with open(file, "w+", encoding="utf-8") as said:
        started = sweep.start("-m", "name=a,b,c,d", "act=once", SLURM, stderr=said)
        begun(sweep, *"abcd")
        until(lambda: all(f"start name={name}" in file.read_text() for name in "abcd"), 120)
        a, b, c, d = numbers(cluster, 4)
        cluster("scontrol", "requeue", a)
        cluster("scancel", "--signal=USR2", b)
        cluster("scancel", c)
        [process] = cluster.processes(f"{sys.executable} -P -u", task=d.partition("_")[2])
        os.kill(process, signal.SIGKILL)
        started.communicate(timeout=300)
    err = file.read_text()
    assert started.returncode == 1, err
    said = err.splitlines()
    assert "2 done, 0 skipped, 2 failed" in err
    for name in ("name=a", "name=b"):
        again = rf"\[\d/4\] queued again {name}  \(PENDING"
        assert any(re.match(again, line) for line in said), err
    assert any(line.startswith("  failed name=c: SLURM: CANCELLED: ") for line in said), err
    assert any(line.startswith("  failed name=d: SLURM: FAILED") for line in said), err
    assert "Warning" not in err and "submitit" not in err.replace(".submitit", "")
    assert sorted(sweep.events()).count("end a-s0") == 1
    assert read_json(sweep.work / "runs/c-s0/failed.json")["reason"].startswith("SLURM: CANCELLED")
    assert not (sweep.work / "runs/a-s0/failed.json").exists()


@pytest.mark.turns
def test_a_node_that_goes_down(sweep, cluster):
    """The front end has seen the job run before its node goes down."""
    with open(sweep.work / "said.txt", "w+", encoding="utf-8") as said:
        started = sweep.start("-m", "name=a", "act=once", SLURM, stderr=said)
        begun(sweep, "a")
        until(lambda: "start name=a" in (sweep.work / "said.txt").read_text(), 120)
        cluster.down()
        cluster.up()
        started.communicate(timeout=300)
    err = (sweep.work / "said.txt").read_text()
    assert started.returncode == 0, err
    assert "queued again" in err and "1 done, 0 skipped, 0 failed" in err


@pytest.mark.turns
def test_jobs_that_wait_and_a_second_start(sweep):
    """The display names the reason, Ctrl-C leaves the jobs in the queue, and the same command does
    the work meanwhile.
    """
    held = "hydra.launcher.additional_parameters={hold: true}"
    with open(sweep.work / "first.txt", "w+", encoding="utf-8") as said:
        first = sweep.start("-m", "name=a,b", SLURM, held, stderr=said)
        file = sweep.work / "first.txt"
        until(lambda: "2 in the queue (PENDING: JobHeldUser)" in file.read_text(), 120)
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=60)
    assert first.returncode == 130
    assert "extrap: the jobs stay with the cluster as " in file.read_text()
    second = sweep("-m", "name=a,b", SLURM)
    assert second.returncode == 0, second.stderr
    number = re.search(r"with the cluster as (\d+);", file.read_text())[1]
    assert "2 done" in second.stderr
    cluster = slurm.Cluster(Path(sweep.environment["SLURM_CONF"]).parent)
    assert set(cluster.jobs()) == {f"{number}_0", f"{number}_1"}
    cluster("scontrol", "release", number)
    until(lambda: not cluster.jobs(), 120)
    assert sorted(sweep.events()) == ["end a-s0", "end b-s0", "start a-s0", "start b-s0"]


@pytest.mark.turns
def test_a_task_that_ends_with_an_exit_code(sweep):
    done = sweep("-m", "name=a", "act=exit", SLURM)
    assert done.returncode == 1
    assert "  failed name=a act=exit: exit code 3: last words" in done.stderr.splitlines()
    noted = read_json(sweep.work / "runs/a-s0/failed.json")
    assert noted == {"reason": "exit code 3: last words"}


@pytest.mark.turns
def test_a_job_that_another_process_does_leaves_its_node(sweep, cluster):
    """The other process begins it while it waits in the queue."""
    short = "from extrap.cli.sweep import node\nnode.BUSY = 1.0\n"
    (sweep.source / "sitecustomize.py").write_text(short)
    file, folder = sweep.work / "said.txt", sweep.work / "runs" / "a-s0"
    with open(file, "w+", encoding="utf-8") as said:
        hold = "hydra.launcher.additional_parameters={hold: true}"
        started = sweep.start("-m", "name=a", SLURM, hold, stderr=said)
        until(lambda: "JobHeldUser" in file.read_text(), 120)
        with lock.alone(folder), lock.alone(folder, "s__direct"):
            cluster("scontrol", "release", *cluster.jobs())
            started.communicate(timeout=120)
    err = file.read_text()
    assert started.returncode == 0 and "[1/1] held " in err, err
    assert "extrap: 1 job is at work elsewhere; the same command takes up what is left of it" in err
    assert sweep.events() == []


@pytest.mark.parametrize(
    "option, said",
    [
        ({"partition": "nope"}, "invalid partition specified: nope"),
        ({"mem_gb": 9999}, "Memory specification can not be satisfied"),
        ({"gpus_per_node": 3}, "Requested node configuration is not available"),
        ({"constraint": "fast"}, "Invalid feature specification"),
        ({"additional_parameters": {"nope": 1}}, "unrecognized option '--nope=1'"),
    ],
    ids=str,
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_what_sbatch_rejects_is_one_line(option, said, jobs, cluster, tmp_path, monkeypatch, capfd):
    for name, value in cluster.environment.items():
        monkeypatch.setenv(name, value)
    folder = queue.private(f"{tmp_path}/q")
    executor = queue.executor(folder, SlurmOptions(submitit_folder="q", **option), Place())
    with pytest.raises(UserError, match=re.escape(said)) as error:
        queue.queue(executor, [print] * jobs)
    assert str(error.value).startswith("hydra/launcher=slurm: sbatch: ")
    assert "\n" not in str(error.value) and capfd.readouterr() == ("", "")
    assert list((tmp_path / "q").iterdir()) == []


def test_jobs_that_train_on_a_gpu_ask_for_one(cluster, tmp_path, monkeypatch):
    for name, value in cluster.environment.items():
        monkeypatch.setenv(name, value)
    hold = SlurmOptions(submitit_folder="q", additional_parameters={"hold": True})
    executor = queue.executor(queue.private(f"{tmp_path}/q"), hold, Place(cores=2, gpus=1))
    queue.queue(executor, [print, print])
    asked = cluster("squeue", "--array", "--noheader", "--format=%b %C").splitlines()
    assert asked == ["gres:gpu:1 2"] * 2


@pytest.mark.whole
def test_the_end_of_the_time_of_a_job(sweep):
    """SLURM warns up to a minute early: a job of three minutes after less than one."""
    done = sweep("-m", "name=a", "act=once", SLURM, "hydra.launcher.timeout_min=3")
    assert done.returncode == 0, done.stderr
    assert "queued again" in done.stderr
    assert sweep.events() == ["start a-s0", "end a-s0"] * 2


@pytest.mark.whole
def test_rows_equal_those_of_the_local_launcher(cluster, tmp_path):
    tiny = [word for word in TINY if not word.startswith("task.kv")]
    words = ["-P", "-m", "extrap", *tiny, "-m", "seed=0,1", "task=nll", "study=s"]
    written: dict[str, dict[str, bytes]] = {}
    for launcher in ("local", "slurm"):
        (folder := tmp_path / launcher).mkdir()
        environment = cluster.environment | {"HOME": str(tmp_path)}
        done = python(*words, f"hydra/launcher={launcher}", cwd=folder, **environment)
        assert done.returncode == 0, done.stderr
        rows = sorted((folder / "results/s/rows").glob("*.csv"))
        written[launcher] = {path.name: path.read_bytes() for path in rows}
    assert written["local"] and written["local"] == written["slurm"]


@pytest.mark.whole
def test_a_training_that_is_queued_again_ends_as_an_uninterrupted_one(cluster, tmp_path):
    """SLURM takes its node after the first checkpoint."""
    tiny = [word for word in TINY if not word.startswith("task.kv")]
    words = [*tiny, "-m", "seed=0", "task=nll", "study=s", "train.steps=400", "train.save_every=10"]
    environment, trained = cluster.environment | {"HOME": str(tmp_path)}, []
    for name, launcher in (("whole", "hydra/launcher=local"), ("again", SLURM)):
        (folder := tmp_path / name).mkdir()
        file = tmp_path / f"{name}.txt"
        with open(file, "w+", encoding="utf-8") as said:
            program = Program("extrap", folder, folder, environment)
            sweep = program.start(*words, launcher, stderr=said)
            if launcher == SLURM:
                until(lambda: [*tmp_path.glob("again/runs/*/last.ckpt")] != [], 300)
                cluster("scontrol", "requeue", *numbers(cluster, 1))
            sweep.communicate(timeout=500)
        err = file.read_text()
        assert sweep.returncode == 0 and "1 done, 0 skipped, 0 failed" in err, err
        [weights] = folder.glob("runs/*/weights.pt")
        trained.append(torch.load(weights, weights_only=True))
    assert "queued again" in err
    [log] = tmp_path.glob("again/runs/*/log.txt")
    assert log.read_text().count("--- ") == 2
    assert equal(*trained)


@pytest.fixture
def two(tmp_path) -> Iterator[slurm.Cluster]:
    (tmp_path / "two").mkdir()
    with slurm.started(tmp_path / "two", ["n1", "n2"]) as cluster:
        yield cluster


@pytest.mark.whole
def test_a_job_of_two_nodes(two, tmp_path):
    """One job trains in a process on each node, and a second start finds nothing to do."""
    tiny = [word for word in TINY if not word.startswith("task.kv")]
    words = ["-P", "-m", "extrap", *tiny, "-m", "seed=0", "task=nll", "study=s", SLURM]
    words += ["trainer=ddp", "trainer.accelerator=cpu", "trainer.precision=32-true"]
    words += ["trainer.devices=1", "trainer.num_nodes=2", "trainer.workers=0"]
    words += ["hydra.launcher.setup=['export MASTER_ADDR=127.0.0.1']"]  # n1 has no address
    environment = two.environment | {"HOME": str(tmp_path)}
    done = python(*words, cwd=tmp_path, **environment)
    assert done.returncode == 0, done.stderr
    assert "1 done, 0 skipped, 0 failed" in done.stderr
    [log] = tmp_path.glob("runs/*/log.txt")
    assert log.read_text().count("--- ") == 2, "a process on each node"
    assert len([*tmp_path.glob("results/s/rows/*__nll.csv")]) == 1
    assert "0 done, 1 skipped, 0 failed" in python(*words, cwd=tmp_path, **environment).stderr
