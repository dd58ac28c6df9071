"""Weights and optimiser in shards: the numbers they begin with, and going on from a checkpoint of
one device, or on one.
"""

import os
from pathlib import Path

import pytest
import torch
from torch import nn

from extrap.runs import validate
from extrap.runs.job import Job
from extrap.runs.train import train
from extrap.runs.training import shards
from extrap.utils.errors import UserError
from tests.support.jobs import alike, job, started, weights
from tests.support.killed import killed

LONGER = ["scheme=t5", "train.steps=8", "train.save_every=2", "train.log_every=2"]
SHARDS = ["trainer=fsdp", "trainer.accelerator=cpu", "trainer.precision=32-true"]
WHERE = {"one device": [], "shards": [*SHARDS, "trainer.devices=1"]}


def stopped(monkeypatch: pytest.MonkeyPatch, *words: str) -> Job:
    """A training that died after step 5 and left its checkpoint of step 4."""
    this = job(*LONGER, *words)
    with killed(monkeypatch, 5):
        train(this)
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
    step = torch.load(this.run.checkpoint, weights_only=True)["global_step"]
    assert (step, this.run.trained) == (4, False)
    return this


def uninterrupted(elsewhere: Path) -> dict[str, torch.Tensor]:
    """The weights of the same training in another folder."""
    (elsewhere / "whole").mkdir()
    os.chdir(elsewhere / "whole")
    train(this := job(*LONGER))
    found = weights(this)
    os.chdir(elsewhere)
    return found


@pytest.mark.turns
@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("before", "after"), [("shards", "shards"), ("shards", "one device"), ("one device", "shards")]
)
def test_a_run_goes_on_where_it_stopped_in_shards_or_without(elsewhere, monkeypatch, before, after):
    """An optimiser counts parameters by its groups, the model by its order: moments find theirs."""
    expected = uninterrupted(elsewhere)
    stopped(monkeypatch, *WHERE[before])
    train(this := job(*LONGER, *WHERE[after]))
    alike(weights(this), expected, atol=1e-5)


@pytest.mark.turns
def test_two_processes_go_on_from_the_checkpoint_of_one(elsewhere, monkeypatch):
    expected = uninterrupted(elsewhere)
    this = stopped(monkeypatch)
    done = started("study=two", "threads=1", *LONGER, *SHARDS)
    assert done.returncode == 0, done.stderr
    alike(weights(this), expected, atol=1e-5)


@pytest.mark.turns
def test_a_damaged_checkpoint_ends_both_processes_in_one_line(elsewhere):
    this = job(*LONGER)
    this.run.folder.mkdir(parents=True)
    this.run.checkpoint.write_bytes(b"half")
    done = started("study=two", "threads=1", *LONGER, *SHARDS)
    assert done.returncode == 2
    [line] = [line for line in done.stderr.splitlines() if "extrap:" in line]
    assert line.startswith(f"extrap: {this.run.checkpoint}: ")
    assert this.run.checkpoint.read_bytes() == b"half"


def test_muon_is_refused_for_each_job_of_a_sweep(elsewhere):
    """Jobs that differ in options of `train` alone have one check in common, `check_own` apart."""
    words = [*SHARDS, "train.optimizer=muon"]
    validate.check_own(job(*words, "stage=evaluate"))
    with pytest.raises(UserError, match=r"^train\.optimizer=muon: needs whole matrices"):
        validate.check_own(job(*words))


def test_a_parameter_in_two_places_is_refused():
    """Emptied, each place would have one of its own."""
    module = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
    module[1].weight = module[0].weight
    with pytest.raises(UserError, match="two layers have a parameter in common"):
        shards.shard(module, nn.ModuleList(), None)  # type: ignore[arg-type]
