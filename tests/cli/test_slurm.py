"""Sweeps on a cluster of fake commands on the PATH. On a real one: test_queue.py."""

import os
import signal
from contextlib import nullcontext
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from extrap.cli.sweep import node
from extrap.cli.sweep import slurm as cluster_of_slurm
from extrap.cli.sweep.process import Process
from extrap.cli.sweep.slurm_options import Place, SlurmOptions
from extrap.runs.folder import read_json
from extrap.runs.study import Entry
from extrap.utils import lock
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir
from extrap.utils.pip import install_extra
from tests.faults import planted
from tests.faults.planted import Code
from tests.support import cluster
from tests.support.program import until

pytest.importorskip("submitit", reason="the extra `slurm` is not installed")

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


def test_a_job_at_work_elsewhere_is_not_queued_again(slurm):
    """It would hold its devices, and wait."""
    with lock.alone(slurm.work / "runs" / "b-s0", "s__direct"):
        done = slurm("-m", "name=a,b", SLURM)
        again = slurm("-m", "name=b", SLURM)
    assert (done.returncode, again.returncode) == (0, 0), done.stderr
    line = "extrap: 1 job is at work elsewhere; the same command takes up what is left of it"
    assert line in done.stderr.splitlines() and line in again.stderr.splitlines()
    assert "extrap: 1 job in the queue as 4242, " in done.stderr
    assert "in the queue" not in again.stderr
    assert slurm.events() == ["start a-s0", "end a-s0"]


def test_nothing_is_queued_through_a_link(slurm, tmp_path):
    (tmp_path / "outside").mkdir()
    (slurm.work / "runs").mkdir()
    (slurm.work / "runs/.sweep").symlink_to(tmp_path / "outside")
    done = slurm("-m", "name=a,b", SLURM)
    assert done.returncode == 2 and "runs/.sweep: a link" in done.stderr
    assert list((tmp_path / "outside").iterdir()) == []


def test_what_sbatch_rejects_is_one_line(slurm, tmp_path):
    (tmp_path / "cluster" / "sbatch").write_text(
        "#!/bin/sh\necho 'sbatch: error: one' >&2; echo 'sbatch: error: two' >&2; exit 1\n"
    )
    done = slurm("-m", "name=a,b", SLURM)
    line = "extrap: hydra/launcher=slurm: sbatch: one, two; give other options hydra.launcher.*"
    assert (done.returncode, done.stderr.splitlines()) == (2, [line])


def test_more_jobs_than_an_array_takes_become_several(monkeypatch):
    class Executor:
        arrays: list[list[int]] = []  # noqa: RUF012

        def submit_array(self, work):
            self.arrays.append(work)
            return [Submitted(f"{len(self.arrays)}_{n}") for n in range(len(work))]

    class Submitted:
        def __init__(self, number: str) -> None:
            self.job_id = number

    monkeypatch.setattr(cluster_of_slurm, "MOST", 3)
    found = cluster_of_slurm.queue(Executor(), [*range(1, 8)])
    assert found == ["1_0", "1_1", "1_2", "2_0", "2_1", "2_2", "3_0"]
    assert Executor.arrays == [[1, 2, 3], [4, 5, 6], [7]]
    assert cluster_of_slurm.arrays(found) == "1, 2, 3"


def test_a_sweep_reads_nothing_that_was_there_before(slurm, tmp_path):
    """Pickles where submitit would look for the results and the work of these jobs, and modules in
    the working folder under the names of what the node imports.
    """
    canary = tmp_path / "canary"
    old = slurm.work / "runs" / ".sweep" / ".submitit"
    for number in ("4242", "4242_0", "4242_1"):
        for folder in (old, old / number, old / "%j"):
            folder.mkdir(parents=True, exist_ok=True)
            for name in ("0_result", "submitted"):
                (folder / f"{number}_{name}.pkl").write_bytes(planted.plain(Code(canary)))
    for name in ("submitit", "cloudpickle", "extrap", "worker", "numpy", "sitecustomize"):
        (slurm.work / f"{name}.py").write_text(planted.module(canary))
    done = slurm("-m", "name=a,b", SLURM)
    assert done.returncode == 0, done.stderr
    assert not canary.exists(), "planted code was run"
    assert sorted(slurm.events()) == ["end a-s0", "end b-s0", "start a-s0", "start b-s0"]


@pytest.mark.turns
def test_the_folder_of_a_sweep_is_its_own(slurm, tmp_path):
    for _ in range(2):
        assert (
            slurm(
                "-m", "name=a,b", SLURM, f"hydra.launcher.submitit_folder={tmp_path}/q/%j"
            ).returncode
            == 0
        )
        for done in slurm.work.glob("runs/*/done.txt"):
            done.unlink()
    first, second = (tmp_path / "q").iterdir()
    assert {oct(folder.stat().st_mode & 0o777) for folder in (first, second)} == {"0o700"}


@pytest.mark.parametrize(
    "option, value, said",
    [
        ("timeout_min", 2, "ends before SLURM has warned the job, 120 s before; give 3 or more"),
        ("nodes", 3, "the trainer of these jobs has 2; leave it out"),
        ("tasks_per_node", 2, "the trainer of these jobs has 4; leave it out"),
    ],
)
def test_options_that_make_no_sense(option, value, said):
    with pytest.raises(UserError, match=said) as error:
        SlurmOptions(submitit_folder="q", **{option: value}).check(Place(nodes=2, tasks=4))
    assert (error.value.option, error.value.value) == (f"hydra.launcher.{option}", value)


def test_a_time_in_which_nothing_is_saved():
    """Each start would begin where the one before began."""
    launcher = import_module("hydra_plugins.extrap_local.slurm").SlurmLauncher()
    jobs = [Process("a", [], Entry("s", "a", "direct", {}), save_minutes=10.0)]
    for minutes, remedy in ((13, "give 14 or more, or train.save_minutes=5"), (3, "give 14 or mo")):
        launcher.options = SlurmOptions(submitit_folder="q", timeout_min=minutes)
        with pytest.raises(UserError, match=rf"train\.save_minutes=10\); {remedy}") as error:
            launcher.check(jobs)
        assert error.value.option == "hydra.launcher.timeout_min"
    launcher.options = SlurmOptions(submitit_folder="q", timeout_min=14)
    launcher.check(jobs)
    launcher.options = SlurmOptions(submitit_folder="q", timeout_min=3)
    launcher.check([replace(jobs[0], save_minutes=None)])


def test_the_file_of_the_launcher_lists_every_option():
    listed = yaml.safe_load((Path(conf_dir()) / "hydra/launcher/slurm.yaml").read_text())
    assert listed.keys() - {"_target_"} == {option.name for option in fields(SlurmOptions)}


@pytest.mark.parametrize(
    "trainer, place, wrapped",
    [
        ({}, Place(cores=2), False),
        ({"accelerator": "cpu", "devices": 2}, Place(cores=4), True),
        ({"accelerator": "gpu", "devices": 1}, Place(cores=2, gpus=1), False),
        ({"accelerator": "cuda", "devices": 4}, Place(cores=8, gpus=4), True),
        ({"accelerator": "gpu", "devices": 4, "num_nodes": 2}, Place(2, 4, 2, 4), False),
        ({"accelerator": "gpu", "devices": "x"}, Place(cores=2, gpus=1), False),
        ({"accelerator": "gpu", "workers": 4}, Place(cores=6, gpus=1), False),
        ({"accelerator": "gpu", "devices": 2, "workers": 4}, Place(cores=12, gpus=2), True),
        (
            {"accelerator": "gpu", "devices": 2, "num_nodes": 2, "workers": 4},
            Place(2, 2, 6, 2),
            False,
        ),
    ],
    ids=str,
)
def test_the_place_of_a_job_follows_its_trainer(trainer, place, wrapped):
    """On one node the job is one task, which starts the processes itself."""
    one = Process("a", ["true"], Entry("s", "a", "direct", {}), threads=2)
    import_module("hydra_plugins.extrap_local.reading")._place(one, trainer)
    assert Place.of([one]) == place
    assert (one.command != ["true"]) == wrapped


def test_jobs_of_other_numbers_of_nodes_are_no_array():
    jobs = [Process("a", [], Entry("s", "a", "direct", {}), nodes=n) for n in (1, 2)]
    with pytest.raises(UserError, match="jobs of different sizes"):
        Place.of(jobs)


@pytest.mark.parametrize(
    "given, asked",
    [
        ({}, {"cpus_per_task": 2, "gpus_per_node": 1}),
        ({"gpus_per_node": 0}, {"cpus_per_task": 2}),
        ({"gres": "gpu:1"}, {"cpus_per_task": 2, "gres": "gpu:1"}),
        ({"gpus_per_task": 1, "cpus_per_gpu": 8}, {"gpus_per_task": 1, "cpus_per_gpu": 8}),
        ({"additional_parameters": {"gpus": 1}}, {"cpus_per_task": 2}),
        ({"cpus_per_task": 5}, {"cpus_per_task": 5, "gpus_per_node": 1}),
    ],
    ids=str,
)
def test_what_a_job_asks_for_follows_the_job(given, asked):
    parameters = SlurmOptions(submitit_folder="q", **given).parameters(Place(cores=2, gpus=1))
    names = ("cpus_per_task", "gpus_per_node", "gpus_per_task", "cpus_per_gpu", "gres")
    found = {name: parameters.get(f"slurm_{name}") for name in names}
    assert {name: value for name, value in found.items() if value is not None} == asked


def test_a_job_that_fails_on_its_node_is_told_and_noted(slurm):
    done = slurm("-m", "act=exit", SLURM)
    assert done.returncode == 1
    assert "  failed act=exit: exit code 3: last words" in done.stderr.splitlines()
    assert read_json(slurm.work / "runs" / "a-s0" / "failed.json") == {
        "reason": "exit code 3: last words"
    }


class Elsewhere(Entry):
    """A job of which another process does, for three looks, a part."""

    own = False  # the job itself; else a training that it needs
    looks = 0

    def busy(self) -> bool:
        object.__setattr__(self, "looks", self.looks + 1)
        return self.looks <= 3 or self.own

    def done_elsewhere(self) -> bool:
        return self.own


LEAVES = """echo '{"phase": "held"}' > $EXTRAP_PROGRESS; exit 75"""


@pytest.mark.parametrize(
    "tasks, script, own, reason, held, code",
    [
        ("1", "exit 3", False, "exit code 3", False, None),
        ("2", "exit 3", False, "exit code 3", False, 1),
        ("2", "exit 0", False, "", False, None),
        ("1", LEAVES, True, "", True, None),
        ("2", LEAVES, True, "", True, 1),
        ("1", f"[ -e one ] || {{ touch one; {LEAVES}; }}", False, "", False, None),
    ],
)
def test_how_the_first_task_of_a_job_ends(
    tasks, script, own, reason, held, code, elsewhere, monkeypatch
):
    """srun ends the others if it ends badly. It leaves a job that another process does, and waits
    for a training.
    """
    monkeypatch.setenv("SLURM_NTASKS", tasks)
    for name in ("SOON", "PAUSE", "BUSY"):
        monkeypatch.setattr(node, name, 0.0)
    entry = type("Own", (Elsewhere,), {"own": own})("s", "a", "direct", {})
    work = node.Work("a", ["sh", "-c", script], entry, elsewhere / "0.json")
    with nullcontext() if code is None else pytest.raises(SystemExit) as stop:
        work()
    assert code is None or stop.value.code == code
    assert read_json(elsewhere / "0.json") == {"reason": reason, "held": held}


@pytest.mark.turns
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


def test_without_the_extra_it_is_named(worker, tmp_path):
    (worker.source / "sitecustomize.py").write_text("import sys; sys.modules['submitit'] = None")
    done = worker("-m", "act=work", SLURM)
    assert done.returncode == 2
    line = f"extrap: hydra/launcher=slurm: needs submitit; {install_extra('slurm')}"
    assert done.stderr.splitlines() == [line]
