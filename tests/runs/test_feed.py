"""Batches drawn beside the training, and layers computed again in the backward: the same run."""

import errno
import pickle

import pytest
import torch
from torch import Tensor

from extrap.data.mixture import Batches
from extrap.runs import train as stage
from extrap.runs.training import feed
from extrap.runs.training.batch_shares import Share, share
from extrap.runs.training.options import read
from extrap.utils.errors import UserError
from tests.runs.test_precision import die_at
from tests.support.jobs import equal, job, weights

pytestmark = pytest.mark.usefixtures("elsewhere")

BRIEF = [
    *("train.steps=40", "train.log_every=10", "train.save_every=10", "train.warmup=0"),
    *("model.dim=16", "model.heads=2", "data.curriculum.accuracy=0.001", "task=[nll,kv]"),
    *("data.text.size=2", "data.retrieval.size=4"),
]
"""A curriculum that switches at step 20, decided after 10."""


@pytest.fixture(autouse=True)
def two_cores(monkeypatch):
    monkeypatch.setattr(feed, "cores", lambda: 2)


def trained(*words: str) -> dict[str, Tensor]:
    this = job(*BRIEF, *words)
    stage.train(this)
    found = weights(this)
    this.run.folder.rename(f"{this.run.name}-{len(words)}")
    return found


def test_batches_drawn_beside_are_those_drawn_when_asked_for(monkeypatch):
    whole, asked, at = trained(), [], Batches.at
    beside = trained("+trainer.workers=2")
    assert equal(whole, beside)
    monkeypatch.setattr(Batches, "at", lambda self, *given: asked.append(given) or at(self, *given))
    die_at(25, monkeypatch, [*BRIEF, "+trainer.workers=1"])
    assert not asked, "drawn in the process of the training"
    stage.train(this := job(*BRIEF))
    assert asked[0][0] == 20 and asked[0][1].at("retrieval") == 20
    assert equal(whole, weights(this))


def test_a_share_of_a_batch_is_drawn_beside_as_well():
    divided = trained("+trainer.accumulate_grad_batches=2")
    beside = trained("+trainer.accumulate_grad_batches=2", "+trainer.workers=2")
    assert equal(divided, beside)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("error", [UserError("data: gone"), OSError(errno.EIO, "broken")], ids=type)
def test_what_keeps_a_batch_from_being_drawn_is_said_as_it_is(error, workers, monkeypatch):
    def fail(self, t, switches):
        raise error

    monkeypatch.setattr(Batches, "at", fail)
    with pytest.raises(type(error)) as raised:
        stage.train(job(*BRIEF, f"+trainer.workers={workers}"))
    assert raised.value.args == error.args


def test_no_more_workers_draw_than_there_are_cores_and_shares():
    """Each would draw all of every batch."""
    batches = job(*BRIEF).training.batches
    for shares, workers in ((1, 2), (2, 1)):
        options = read({"workers": 8, "accumulate_grad_batches": shares})
        assert feed.feed(batches, None, batches.switches(), 40, options).num_workers == workers


def test_batches_can_go_to_another_process():
    """Where processes are spawned, and not forked."""
    batches = job(*BRIEF).training.batches
    copy = pickle.loads(pickle.dumps(batches))
    assert torch.equal(copy[3].tokens, batches[3].tokens)


def test_every_tensor_of_a_share_is_pinned(monkeypatch):
    """Needs no GPU: what pins a tensor is put in the place of torch's."""
    pinned: list[Tensor] = []
    monkeypatch.setattr(Tensor, "pin_memory", lambda t: pinned.append(t) or t + 0)
    batch = share(job(*BRIEF).training.batches[0], 1, 2, turn=1, turns=2)
    found = batch.pin_memory()
    assert isinstance(found, Share) and found.turn == 1 and found.counts == batch.counts
    assert torch.equal(found.tokens, batch.tokens) and found.tokens is not batch.tokens
    tensors = [batch.tokens, batch.targets, *batch.scored.values(), *batch.echoes.values()]
    assert len(pinned) == len(tensors) + (batch.early is not None)


def test_layers_computed_again_make_the_same_run(monkeypatch):
    blocks, run = [], torch.utils.checkpoint.checkpoint
    whole = trained()
    monkeypatch.setattr(
        "extrap.model.block.checkpoint", lambda *a, **k: blocks.append(a) or run(*a, **k)
    )
    again = trained("+trainer.recompute=true")
    assert len(blocks) == 2 * 40
    assert equal(whole, again)
