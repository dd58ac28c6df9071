"""One run on several devices: here two processes on the CPU."""

from pathlib import Path

import pytest
import torch

from extrap.data.mixture import Batch
from extrap.runs.study import State, entries, standing
from extrap.runs.train import train
from extrap.runs.training import devices
from extrap.runs.training.batch_shares import share
from extrap.runs.training.lightning_module import Lit
from extrap.runs.training.options import read
from extrap.utils.errors import UserError
from tests.support.jobs import alike, equal, job, started, weights

TWO = ["trainer=ddp", "trainer.accelerator=cpu", "trainer.precision=32-true"]


@pytest.mark.parametrize(
    ("trainer", "sweep", "option"),
    [
        ({"devices": 2}, True, "trainer.devices"),
        ({"devices": 2, "num_nodes": 2}, False, "data.text.size"),
        ({"devices": "auto"}, False, "trainer.devices"),
    ],
)
def test_devices_that_cannot_work_are_rejected(trainer, sweep, option, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "4")  # as torchrun sets it
    with pytest.raises(UserError) as error:
        devices.check(read(trainer), {"text": 6}, sweep)
    assert error.value.option == option


@pytest.mark.sample(1)
@pytest.mark.parametrize("strategy", ["ddp", "fsdp"])
def test_two_processes_train_what_one_does_and_one_of_them_writes(elsewhere, strategy):
    """Windows of text and of retrieval score differently many tokens; gradients are those of the
    whole batch up to rounding.
    """
    options = ["scheme=t5", "logger=wandb", "threads=1"]
    done = started(*options, *TWO, f"trainer={strategy}", "study=two")
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
