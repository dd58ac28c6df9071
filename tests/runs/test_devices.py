"""One run on several devices: here two processes on the CPU."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from lightning.fabric.plugins.environments.slurm import SLURMEnvironment
from lightning.fabric.utilities.rank_zero import rank_zero_only

from extrap.data.mixture import Batch
from extrap.data.text import Text
from extrap.runs.folder import Named
from extrap.runs.study import State, entries, standing
from extrap.runs.train import check, train
from extrap.runs.training import devices
from extrap.runs.training.batch_shares import share
from extrap.runs.training.lightning_module import Lit
from extrap.runs.training.options import read
from extrap.runs.training.trainer import environment, trainer
from extrap.utils.errors import UserError
from tests.data.test_mixture import mixture
from tests.support.jobs import TINY, alike, equal, job, started, weights
from tests.support.program import REPOSITORY, python, until

ALLOCATION = {"SLURM_JOB_ID": "7", "SLURM_JOB_NAME": "tune", "SLURM_LOCALID": "0"}
ALLOCATION |= {"SLURM_NODEID": "0", "SLURM_NODELIST": "n1"}
TWO = ["trainer=ddp", "trainer.accelerator=cpu", "trainer.precision=32-true"]


@pytest.mark.parametrize(
    ("trainer", "data", "sweep", "option"),
    [
        ({"devices": [0, 1]}, {}, True, "trainer.devices"),
        ({"devices": 2, "num_nodes": 2}, {"text": {"size": 6}}, False, "data.text.size"),
        ({"devices": 2}, {"more": {"copy": Text(size=3)}}, False, "data.more.copy.size"),
        ({"devices": 2}, {"tokens": 64 * 9}, False, "data.tokens"),
        ({"devices": "auto"}, {}, False, "trainer.devices"),
    ],
)
def test_devices_that_cannot_work_are_rejected(trainer, data, sweep, option, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "4")  # as torchrun sets it
    with pytest.raises(UserError) as error:
        devices.check(read(trainer), mixture(**data), sweep)
    assert error.value.option == option


def test_a_run_is_evaluated_on_the_device_that_trained_it(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    for given, device in (("1", "cuda"), ("[1]", "cuda:1"), ("[1,0]", "cuda:1")):
        source = job("trainer=gpu", f"trainer.devices={given}").source
        assert source.device == torch.device(device)
    with pytest.raises(UserError, match=r"^trainer.devices=\[2\]: this machine has 2 GPUs; give"):
        _ = job("trainer=gpu", "trainer.devices=[2]").source.device


BLOCKS = """
from extrap.cli.commands import main
from extrap.model import loss

loss.LOGITS["cpu"] = 2**10  # of three positions
loss._one_block = lambda hidden, vocab: False  # parts with few answers, too
if __name__ == "__main__":
    main()
"""


@pytest.mark.turns
@pytest.mark.sample(1)
@pytest.mark.parametrize("strategy", ["ddp", "fsdp"])
def test_the_loss_in_blocks_of_two_processes_is_that_of_one_block(elsewhere, strategy):
    options = ["scheme=t5", "logger=none", "threads=1", "stage=train"]
    Path("blocks.py").write_text(BLOCKS)
    done = python("blocks.py", *TINY, *options, *TWO, f"trainer={strategy}")
    assert done.returncode == 0, done.stderr
    found = weights(job(*options))
    (elsewhere / "one").mkdir()
    os.chdir(elsewhere / "one")
    train(single := job(*options))
    alike(weights(single), found)


@pytest.mark.turns
@pytest.mark.sample(1)
@pytest.mark.parametrize("strategy", ["ddp", "fsdp"])
def test_two_processes_train_what_one_does_and_one_of_them_writes(elsewhere, strategy):
    """Windows of text and of retrieval score differently many tokens; gradients are those of the
    whole batch up to rounding. An allocation of one task, as `sbatch --ntasks=1` makes, is none of
    its processes.
    """
    options = ["scheme=t5", "logger=wandb", "threads=1"]
    tasks = ALLOCATION | {"SLURM_NTASKS": "1", "SLURM_PROCID": "0"}
    done = started(*options, *TWO, f"trainer={strategy}", "study=two", **tasks)
    assert done.returncode == 0, done.stderr
    [entered] = entries("two")
    assert (standing(entered).left, standing(entered).state) == ([], State.BELOW_GATE)
    assert [line.split()[0] for line in done.stderr.splitlines()].count("train:") == 1
    assert len(list(Path("wandb").glob("offline-run-*"))) == 1
    single = job(*options, "logger=none")
    train(single)
    one, two = weights(single), torch.load(entered.folder.weights, weights_only=True)
    alike(one, two)
    assert not equal(one, job(*options).source.model().state_dict())


@pytest.mark.parametrize("n", [2, 4])
def test_the_gradient_of_a_batch_is_the_mean_of_those_of_its_shares(n):
    """Also where shares score differently many tokens of a part, or none."""
    this = job("scheme=t5", "model.dim=16", "model.heads=2")
    model, training = this.source.model().double(), this.training
    lit = Lit(model, training.optim, training.batches.mixture.weights)
    targets = torch.randint(0, this.source.vocabulary.size, (8, 16))
    targets[4:, :13] = -100
    targets[5, :] = -100  # no token of share 1 of 4 is scored
    targets[torch.rand(8, 16) < 0.3] = -100
    tokens = torch.randint(0, this.source.vocabulary.size, (8, 16))
    batch = Batch(tokens, targets, {"text": slice(0, 4), "retrieval": slice(4, 8)})

    def gradients(part: Batch) -> list[torch.Tensor]:
        lit.zero_grad()
        lit.training_step(part, 0).backward()
        return [p.grad.clone() for p in lit.parameters()]

    whole = gradients(share(batch, 0, 1))
    shares = [gradients(share(batch, rank, n)) for rank in range(n)]
    for mean, expected in zip(zip(*shares, strict=True), whole, strict=True):
        torch.testing.assert_close(sum(mean) / n, expected, atol=1e-8, rtol=1e-6)


@pytest.mark.turns
def test_a_run_on_one_device_is_the_first_process_whoever_started_it(elsewhere):
    """Inside an allocation of several tasks, or with ranks left in the environment."""
    ranks = dict.fromkeys(devices.RANKS, "1") | {"SLURM_NTASKS": "4", "SLURM_JOB_ID": "7"}
    ranks |= {"SLURM_JOB_NAME": "tune", "SLURM_LOCALID": "1", "SLURM_NODELIST": "n[1-2]"}
    done = started("study=alone", **ranks)
    assert done.returncode == 0, done.stderr
    assert len(list(Path("results/alone/rows").glob("*__nll.csv"))) == 1


@pytest.mark.parametrize("strategy", ["ddp", "fsdp"])
def test_an_allocation_of_other_tasks_does_not_decide_the_processes(monkeypatch, strategy):
    """Lightning would train in as many as SLURM_NTASKS says."""
    for name, value in {**ALLOCATION, "SLURM_NTASKS": "1", "SLURM_PROCID": "3"}.items():
        monkeypatch.setenv(name, value)
    this = job(*TWO, f"trainer={strategy}", "trainer.devices=2")
    options, optim = this.source.trainer, this.training.optim
    assert trainer(options, optim, Path()).world_size == 2
    devices.settle(options)
    assert devices.first()
    monkeypatch.setenv("SLURM_NTASKS", "8")
    check(this, sweep=True)


def test_tasks_of_slurm_are_the_processes_where_srun_starts_them(monkeypatch):
    for name, value in {**ALLOCATION, "SLURM_NTASKS": "2", "SLURM_PROCID": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SLURM_NTASKS_PER_NODE", "2")
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "2")
    monkeypatch.setattr(rank_zero_only, "rank", 0)  # which a Trainer sets for the whole process
    this = job(*TWO, "trainer.devices=2")
    options, optim = this.source.trainer, this.training.optim
    [found] = environment(options, sweep=False)
    assert isinstance(found, SLURMEnvironment) and not found.auto_requeue
    assert trainer(options, optim, Path()).world_size == 2
    devices.settle(options)
    assert not devices.first()
    four = job(*TWO, "trainer.devices=2", "trainer.num_nodes=2").source.trainer
    with pytest.raises(UserError, match="makes 4 processes, and 2 have started"):
        trainer(four, optim, Path())


LONGER = ["train.steps=80", "train.save_every=5", "train.log_every=5"]
SWEEP = ["-m", "scheme=t5", "study=two", "threads=1", *LONGER, *TWO]
SHARDS = [*SWEEP, "trainer=fsdp"]


def process(rank: int, folder: Path) -> int | None:
    """Returns the process of this rank of a job in a folder."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            variables = (place / "environ").read_bytes().split(b"\0")
            if f"RANK={rank}".encode() in variables and (place / "cwd").samefile(folder):
                return int(place.name)
        except OSError:  # it has ended
            continue
    return None


def _written(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


def stopped(run: Named, rank: int, words: list[str]) -> str:
    """Starts a sweep, kills one process of its job after a checkpoint of this attempt, and
    returns what the sweep says.
    """
    before = _written(run.checkpoint)
    sweep = subprocess.Popen(
        [sys.executable, "-m", "extrap", *TINY, *words],
        env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until(lambda: _written(run.checkpoint) > before or sweep.poll() is not None, 500)
        os.kill(process(rank, Path()), signal.SIGKILL)
        said = sweep.communicate(timeout=500)[1]
    finally:
        sweep.kill()
    assert sweep.returncode == 1 and not run.trained and process(0, Path()) is None
    return said


@pytest.mark.turns
@pytest.mark.sample(1)
@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
@pytest.mark.parametrize("words", [SWEEP, SHARDS], ids=["ddp", "fsdp"])
def test_a_job_of_two_processes_ends_with_either_and_goes_on_bit_for_bit(elsewhere, words):
    run = Named(job(*words[1:]).run.name)
    for rank in (1, 0):
        said = stopped(run, rank, words)
        assert f"process {rank} of the job was killed by SIGKILL" in said
        assert run.holder() is None
    assert "1 done, 0 skipped, 0 failed" in started(*words).stderr
    found = torch.load(run.weights, weights_only=True)
    (elsewhere / "whole").mkdir()
    os.chdir(elsewhere / "whole")
    assert "1 done, 0 skipped, 0 failed" in started(*words).stderr
    assert equal(torch.load(run.weights, weights_only=True), found)
    [entered] = entries("two")
    assert standing(entered).left == []
