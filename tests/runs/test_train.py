"""Training: repeatable to the bit, resumable to the bit, and honest when it fails."""

import json
import logging
from types import SimpleNamespace

import pytest
import torch

from extrap.runs import train as stage
from extrap.runs.training.callbacks import Curve, RandomState
from extrap.utils.errors import UserError
from tests.support.jobs import equal, job, weights
from tests.support.killed import killed

pytestmark = pytest.mark.usefixtures("elsewhere")


def test_two_runs_are_equal_and_a_finished_one_is_left_alone(elsewhere):
    first = job("scheme=kerple-log")
    stage.train(first)
    one, stamp = weights(first), first.run.weights.stat().st_mtime_ns
    stage.train(job("scheme=kerple-log"))
    assert first.run.weights.stat().st_mtime_ns == stamp
    first.run.folder.rename(elsewhere / "other")
    stage.train(job("scheme=kerple-log"))
    assert equal(one, weights(first))
    assert not equal(one, _trained("scheme=kerple-log", "seed=1"))


def _trained(*overrides: str) -> dict[str, torch.Tensor]:
    j = job(*overrides)
    stage.train(j)
    return weights(j)


def test_lightning_says_afterwards_what_it_said_before(monkeypatch):
    logger = logging.getLogger("lightning.pytorch")
    monkeypatch.setattr(logger, "level", logging.INFO)
    stage.check(job("seed=7"), sweep=False)
    stage.train(job("seed=7"))
    assert logger.level == logging.INFO


@pytest.mark.parametrize(
    "words",
    [(), ("+trainer.accumulate_grad_batches=2",), ("train.optimizer=muon",)],
    ids=["", "parts", "muon"],
)
def test_resumed_again_and_again_equals_uninterrupted(elsewhere, monkeypatch, words):
    """Whoever resumes at the step of a checkpoint saves no other in the middle of the next step."""
    options = ("scheme=rope", "model.dropout=0.2", "train.steps=8", "train.save_every=4", *words)
    j = job(*options)
    stage.train(j)
    whole, curve = weights(j), j.run.curve.read_text()
    j.run.folder.rename(elsewhere / "whole")
    for _ in range(3):
        with killed(monkeypatch, 6):
            stage.train(job(*options))
    spent = torch.load(j.run.checkpoint, weights_only=True)["callbacks"]["Curve"]["cost"]["seconds"]
    stage.train(job(*options))
    assert equal(whole, weights(j)) and curve == j.run.curve.read_text()
    assert j.run.state["seconds"] > spent > 0, "time goes on from the checkpoint's"


def test_a_run_that_goes_on_may_be_logged_less_often(elsewhere, monkeypatch):
    """Its points are means over the steps that are in them."""
    stage.train(whole := job("train.log_every=1", "train.save_every=1"))
    every = [point["text/nll"] for point in json.loads(whole.run.curve.read_text())["points"]]
    whole.run.folder.rename(elsewhere / "whole")
    with killed(monkeypatch, 3):
        stage.train(job("train.log_every=1", "train.save_every=1"))
    stage.train(again := job("train.log_every=4", "train.save_every=4"))
    points = {
        point["step"]: point["text/nll"]
        for point in json.loads(again.run.curve.read_text())["points"]
    }
    assert points[8] == pytest.approx(sum(every[4:]) / 4)
    began = max(step for step in points if step < 4)
    assert points[4] == pytest.approx(sum(every[began:4]) / (4 - began))


def test_a_checkpoint_holds_the_sums_of_all_processes():
    """Process 0 alone writes; each of two goes on from what it wrote."""
    curve = Curve(every=4)
    curve.load_state_dict({"points": [], "sums": {"text/nll": torch.tensor(2.0)}, "steps": 1})
    state = curve.state_dict()
    other = SimpleNamespace(reduce=lambda own, reduce_op: (own + torch.tensor(4.0)) / 2)
    trainer = SimpleNamespace(strategy=other, accumulate_grad_batches=1)
    curve.on_save_checkpoint(trainer, None, checkpoint := {"callbacks": state})
    assert checkpoint["accumulate_grad_batches"] == 1
    assert state["sums"] == {"text/nll": torch.tensor(3.0)}


def test_every_process_takes_up_the_random_numbers_of_the_one_that_wrote(monkeypatch):
    """Each on its own device: in the process that wrote, another device never drew a number."""
    own = torch.get_rng_state() + 1
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda: own)
    written, taken = RandomState().state_dict(), []
    assert len(written["rng"]) == 2 and torch.equal(written["rng"][1], own)
    monkeypatch.setattr(torch.cuda, "set_rng_state", taken.append)
    for more in ([], [torch.get_rng_state()]):  # of an older run, a state for each device
        states = RandomState()
        states.load_state_dict({"rng": [*written["rng"], *more]})
        states.on_train_start(None, None)
    assert len(taken) == 2 and all(torch.equal(state, own) for state in taken)


def test_a_run_goes_on_with_the_forwards_of_a_step_that_it_began_with(monkeypatch):
    """Lightning counts forwards from the start of the run: other numbers would mix batches."""
    with killed(monkeypatch, 5):
        stage.train(job())
    line = "accumulate_grad_batches=2: this run began with 1 forwards a step"
    with pytest.raises(UserError, match=line):
        stage.train(job("+trainer.accumulate_grad_batches=2"))
    stage.train(job())


def test_a_model_in_shards_is_not_tried_on_one_device(monkeypatch):
    this = job("trainer=fsdp", "trainer.devices=2", "data.text.size=4", "data.retrieval.size=4")
    monkeypatch.setattr(stage, "worth", lambda *_: True)
    tried = []
    monkeypatch.setattr(stage, "calibrate", lambda *asked: tried.append(asked))
    stage.warn(this, this.training)
    assert tried == [], "the whole model on one GPU"


LEARNS = [
    *("data.text.size=0", "data.retrieval.size=8", "data.vocabulary.values=2", "train.warmup=0"),
    *("train.steps=40", "train.log_every=2", "train.save_every=2", "data.curriculum.accuracy=0.1"),
]
"""Two values are told from all else within some 10 of 40 steps, so that the curriculum switches by
itself.
"""


def switch(run) -> dict[str, int]:
    """The switch that is noted in the checkpoint."""
    callbacks = torch.load(run.checkpoint, weights_only=True)["callbacks"]
    return next(state["decided"] for state in callbacks.values() if "decided" in state)


@pytest.mark.sample(2)
@pytest.mark.parametrize("phase", ["easy", "decided", "ramp", "hard"])
def test_resumed_equals_uninterrupted_in_every_phase_of_the_curriculum(
    elsewhere, monkeypatch, phase
):
    stop = {"easy": 4, "decided": 13, "ramp": 24, "hard": 35}[phase]
    j = job(*LEARNS)
    stage.train(j)
    whole = weights(j)
    j.run.folder.rename(elsewhere / "whole")
    with killed(monkeypatch, stop):
        stage.train(job(*LEARNS))
    assert switch(j.run) == ({} if phase == "easy" else {"retrieval": 20})
    stage.train(job(*LEARNS))
    assert equal(whole, weights(j))


def test_weights_that_the_last_step_spoils_mark_the_run_also_after_a_kill(monkeypatch, capsys):
    """The last step has the loss of the weights before it."""
    options = ("train.steps=1", "train.save_every=1", "train.log_every=1", "train.warmup=0")
    options += ("train.lr=1e39", "train.final=1", "train.decay=0")
    j = job(*options)
    with monkeypatch.context() as patched:
        patched.setattr(stage, "write_json", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            stage.train(job(*options))
    assert j.run.checkpoint.exists() and not j.run.trained
    stage.train(j)
    assert j.run.state["state"] == "diverged"
    assert "the weights are not finite at step 1; the run is marked" in capsys.readouterr().err


def _interrupt(*_):
    raise KeyboardInterrupt


def test_shared_weights_start_equal_whatever_the_scheme():
    a, b = job("scheme=t5").source.model(), job("scheme=learned").source.model()
    shared = [name for name, _ in a.named_parameters() if not name.startswith("scheme")]
    assert all(torch.equal(a.get_parameter(n), b.get_parameter(n)) for n in shared)
    assert torch.equal(
        job("scheme=t5").training.batches[3].tokens, job("scheme=nope").training.batches[3].tokens
    )
