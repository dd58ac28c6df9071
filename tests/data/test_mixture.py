import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from extrap.data.corpora.base import Corpus
from extrap.data.corpora.files import Files
from extrap.data.corpora.token_map import Stream
from extrap.data.curriculum import Curriculum
from extrap.data.keyvalue import KeyValue
from extrap.data.mixture import IGNORED, Batches, Mixture
from extrap.data.text import Text
from extrap.data.vocabulary import Vocabulary

TEXT = np.random.default_rng(0).integers(256, size=3000).astype(np.uint16)
STEPS = 10


def mixture(text=None, retrieval=None, **options):
    given = {"vocabulary": Vocabulary(), "corpus": Files(path="unused")} | options
    return Mixture(
        text=Text(**{"size": 4} | (text or {})),
        retrieval=KeyValue(**{"size": 6} | (retrieval or {})),
        **given,
    )


def corpus(text=TEXT):
    split = Stream(text, np.array([0, len(text)]), None)
    return Corpus(
        "given", "data.corpus.path=given", "0" * 64, {"train": split, "validation": split}
    )


def batches(seed=0, steps=STEPS, **options):
    return Batches(mixture(**options), corpus(), seed, steps)


def same(a, b):
    return (
        torch.equal(a.tokens, b.tokens) and torch.equal(a.targets, b.targets) and a.parts == b.parts
    )


def test_a_batch_depends_on_nothing_but_seed_step_and_switches():
    one, two = batches(), batches()
    backwards = [two[t] for t in reversed(range(STEPS))][::-1]
    assert all(same(one[t], backwards[t]) for t in range(STEPS))
    assert not same(one[0], one[1])
    assert not same(one[0], batches(seed=1)[0])


def test_a_loader_that_starts_late_goes_on_with_the_same_batches():
    made = batches()
    rest = list(DataLoader(made, batch_size=None, sampler=range(6, len(made))))
    assert len(rest) == STEPS - 6
    assert all(same(made[6 + i], batch) for i, batch in enumerate(rest))


@pytest.mark.parametrize("size", [1, 6])
def test_a_step_has_answers_beside_its_echoes(size):
    """The mean of the loss over no answer is no number."""
    batch = batches(retrieval={"size": size, "echo": 0.99})[0]
    assert len(batch.scored["retrieval"]) and bool(len(batch.echoes["retrieval"])) == (size > 1)


def test_text_depends_on_the_step_alone_and_retrieval_on_the_phase():
    made = batches(steps=100)
    early, late = made.switches(), made.switches()
    early.decided["retrieval"], late.decided["retrieval"] = 20, 50
    for t, u in ((20, 50), (33, 63), (60, 90)):
        a, b = made.at(t, early), made.at(u, late)
        rows = a.parts["retrieval"]
        assert torch.equal(a.tokens[rows], b.tokens[rows]), "the same step of the hard phase"
        text = a.parts["text"]
        assert torch.equal(a.tokens[text], made.at(t, late).tokens[text])
    assert same(made.at(10, early), made.at(10, late))
    assert not same(made.at(30, early), made.at(30, late))


def test_a_learned_part_keeps_a_share_of_its_weight():
    made = batches(steps=100, curriculum=Curriculum(ramp=0.2, kept=0.25))
    learned = made.switches()
    learned.decided["retrieval"] = 20
    found = [made.at(t, learned).weights for t in (19, 20, 30, 40, 90)]
    assert found == [{"retrieval": share} for share in (1, 1, 0.625, 0.25, 0.25)]
    assert made.at(90, made.switches()).weights == {}, "time was up: it is still to be learned"


def test_what_follows_a_training_is_hard_and_new():
    first, after = batches(), Batches(mixture(), corpus(), 0, STEPS, after=STEPS)
    assert after.switches().waiting == [] and after[0].early is None
    assert not any(same(first[t], after[u]) for t in range(STEPS) for u in range(STEPS))


def test_parts_and_their_weights():
    made = mixture(text={"weight": 3.0})
    batch = Batches(made, corpus(), 0, STEPS)[0]
    assert batch.parts == {"text": slice(0, 4), "retrieval": slice(4, 10)}
    assert made.weights == {"text": 3.0, "retrieval": 2.0}
    assert batch.tokens.shape == batch.targets.shape == (10, 64)
    assert batch.tokens.dtype == batch.targets.dtype == torch.int64
    assert (batch.tokens[:, 0] == 256).all()


def test_text_is_scored_everywhere_and_is_a_stretch_of_the_stream():
    batch = batches(length=32)[0]
    tokens, targets = batch.tokens[batch.parts["text"]], batch.targets[batch.parts["text"]]
    assert torch.equal(tokens[:, 1:], targets[:, :-1])
    assert all(
        bytes(row.to(torch.uint8).tolist()) in TEXT.astype(np.uint8).tobytes() for row in targets
    )


def test_retrieval_is_scored_at_answers_only():
    batch = batches()[0]
    tokens, targets = (
        batch.tokens[batch.parts["retrieval"]],
        batch.targets[batch.parts["retrieval"]],
    )
    scored = targets != IGNORED
    assert scored.any(1).all()
    v = Vocabulary()
    echoed = batch.early[batch.parts["retrieval"]]
    assert set(targets[scored & ~echoed].tolist()) <= set(v.value_ids)
    assert set(tokens[scored & ~echoed].tolist()) <= set(v.key_ids)
    assert set(targets[echoed].tolist()) <= set(v.key_ids) and (scored | ~echoed).all()


@pytest.mark.parametrize(("left_out", "kept"), [("text", "retrieval"), ("retrieval", "text")])
def test_a_control_sees_what_the_mixture_sees(left_out, kept):
    full, control = batches()[3], batches(**{left_out: {"size": 0}})[3]
    assert list(control.parts) == [kept]
    assert torch.equal(full.tokens[full.parts[kept]], control.tokens)
    assert torch.equal(full.targets[full.parts[kept]], control.targets)


def test_a_batch_moves_whole():
    moved = batches()[0].to("meta")
    assert moved.tokens.is_meta
    assert moved.targets.is_meta
    assert moved.early.is_meta
    assert moved.parts == batches()[0].parts
