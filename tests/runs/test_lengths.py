"""Windows that grow during the training."""

import pytest
import torch

from extrap.runs import train as stage
from extrap.runs.training.lightning_module import Lit
from extrap.utils.errors import UserError
from tests.support.jobs import equal, job, weights
from tests.support.killed import killed

pytestmark = pytest.mark.usefixtures("elsewhere")
GROWING = ("data.lengths=[16,32,64]", "train.steps=9", "train.save_every=2", "data.spread=true")


def test_windows_grow_and_a_step_keeps_its_tokens():
    this = job(*GROWING)
    shapes = [tuple(this.source.batches[t].tokens.shape) for t in (0, 2, 3, 5, 6, 8)]
    assert shapes == [(32, 16)] * 2 + [(16, 32)] * 2 + [(8, 64)] * 2
    plain = job("train.steps=9")
    assert torch.equal(this.source.batches[8].tokens, plain.source.batches[8].tokens)
    assert len({this.run.name, plain.run.name, job(*GROWING, "data.spread=false").run.name}) == 3
    assert job("data.lengths=null", "data.spread=false").run.name == job().run.name


@pytest.mark.parametrize("step", [3, 5])
def test_resumed_equals_uninterrupted_across_a_growth(elsewhere, monkeypatch, step):
    whole = job(*GROWING, "scheme=rope")
    stage.train(whole)
    expected, curve = weights(whole), whole.run.curve.read_text()
    whole.run.folder.rename(elsewhere / "whole")
    with killed(monkeypatch, step):
        stage.train(job(*GROWING, "scheme=rope"))
    stage.train(again := job(*GROWING, "scheme=rope"))
    assert equal(expected, weights(again)) and curve == again.run.curve.read_text()


def test_coordinates_of_shorter_windows_are_spread(monkeypatch):
    """The last key of a window of 16 is as far as that of every window, in steps of four."""
    seen = {}
    hidden = Lit.training_step

    def step(self, batch, n):
        where = self.model.where

        def noted(tokens):
            seen[tokens.shape[1]] = where(tokens)
            return seen[tokens.shape[1]]

        monkeypatch.setattr(self.model, "where", noted, raising=False)
        return hidden(self, batch, n)

    monkeypatch.setattr(Lit, "training_step", step)
    stage.train(this := job(*GROWING, "scheme=rope", "seed=1"))
    assert sorted(seen) == [16, 32, 64]
    for length, at in seen.items():
        assert torch.equal(at.k, torch.arange(length, dtype=torch.float64) * 64 / length)
    assert type(this.source.trained(this.run).scheme).__name__ == "RoPE"


@pytest.mark.parametrize("lengths", ["[16,32]", "[64,32]", "[32,32,64]"])
def test_lengths_grow_to_the_length(lengths):
    with pytest.raises(UserError, match=r"data\.lengths"):
        _ = job(f"data.lengths={lengths}").source.mixture


def test_a_scheme_without_coordinates_is_refused():
    with pytest.raises(UserError, match=r"data\.spread=true: scheme=alibi: nothing there is"):
        job(*GROWING, "scheme=alibi").source.check()
