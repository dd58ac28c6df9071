"""The library of linear layers: decided once for a command, kept with the run."""

import os

import pytest
import torch

from extrap.model import linear
from extrap.runs import evaluate as evaluation
from extrap.runs import linear as this
from extrap.runs import train as stage
from extrap.runs.folder import read_json, write_json
from extrap.utils.errors import UserError
from tests.support.jobs import job

pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.fixture
def machine(monkeypatch):
    """A machine on which oneDNN takes this share of torch's time; how often it was measured."""
    monkeypatch.delenv(this.DECIDED, raising=False)
    monkeypatch.setattr(this, "available", lambda: True)

    def of(share: float) -> list[float]:
        asked: list[float] = []
        monkeypatch.setattr(this, "measure", lambda: asked.append(share) or share)
        return asked

    yield of
    os.environ.pop(this.DECIDED, None)


@pytest.mark.parametrize("share, word", [(0.5, "onednn"), (0.9, "torch"), (1.4, "torch")])
def test_auto_measures_once_for_a_command_and_its_jobs(machine, share, word):
    asked = machine(share)
    assert job().linear == word
    assert job("scheme=alibi").linear == word
    assert len(asked) == 1
    assert os.environ[this.DECIDED] == word  # what jobs of a sweep inherit


def test_a_job_takes_the_word_of_its_sweep(machine, monkeypatch):
    asked = machine(1.4)
    monkeypatch.setenv(this.DECIDED, "onednn")
    assert job().linear == "onednn"
    monkeypatch.setattr(this, "available", lambda: False)  # on a node of another kind
    assert job().linear == "torch"
    assert not asked


@pytest.mark.parametrize("words", [["trainer=gpu"], ["trainer.devices=2"]])
def test_auto_is_torch_where_it_would_not_be_one_decision(machine, words):
    asked = machine(0.5)
    assert job(*words).linear == "torch"
    assert not asked


def test_the_option_says_it(machine, monkeypatch):
    machine(1.4)
    assert job("linear=onednn").linear == "onednn"
    assert job("linear=torch").linear == "torch"
    monkeypatch.setattr(this, "available", lambda: False)
    with pytest.raises(UserError, match="linear=onednn: not part of this torch"):
        _ = job("linear=onednn").linear


@pytest.mark.parametrize("word", ["torch", "onednn"])
def test_training_and_evaluation_are_by_the_word_of_the_run(machine, monkeypatch, word):
    """Continued and evaluated as it was begun, whatever the option says then."""
    machine(0.5)
    used: list[bool] = []
    real = linear.linear
    monkeypatch.setattr(linear, "linear", lambda *a: used.append(linear._FAST.get()) or real(*a))
    stage.train(job(f"linear={word}"))
    assert set(used) == {word == "onednn"}
    run = job().run
    assert read_json(run.folder / "config.json")["linear"] == word
    used.clear()
    for option in ("auto", "torch", "onednn"):
        other = job(f"linear={option}")
        assert other.run.name == run.name
        assert other.linear == word
    evaluation.evaluate(job())
    assert set(used) == {word == "onednn"}
    assert not linear._FAST.get()


def test_a_run_that_is_older_than_the_option_stays_with_torch(machine):
    machine(0.5)
    this_job = job()
    this_job.run.claim()
    assert "linear" not in read_json(this_job.run.folder / "config.json")
    assert job().linear == "torch"
    write_json(this_job.run.folder / "config.json", {"linear": ["onednn"]})
    assert job().linear == "onednn"  # no run yet, the machine decides


def test_resumed_equals_uninterrupted_with_both_libraries(elsewhere, machine, monkeypatch):
    """A run that oneDNN began goes on with it on a machine that would measure otherwise."""
    options = ["train.steps=4", "train.save_every=2", "data.text.size=16"]
    machine(0.5)
    stage.train(job(*options))
    whole = torch.load(job(*options).run.weights, weights_only=True)
    job(*options).run.folder.rename(elsewhere / "whole")
    with monkeypatch.context() as killed:
        step = stage.Lit.training_step

        def die(self, batch, number):
            if self.trainer.global_step == 3:
                raise RuntimeError("down")
            return step(self, batch, number)

        killed.setattr(stage.Lit, "training_step", die)
        with pytest.raises(RuntimeError, match="down"):
            stage.train(job(*options))
    assert job(*options).run.checkpoint.exists()
    monkeypatch.delenv(this.DECIDED)
    machine(1.4)
    stage.train(job(*options))
    resumed = torch.load(job(*options).run.weights, weights_only=True)
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
