"""Sink ablation, on readers that need the first token or do not, and on a model with a mask."""

import numpy as np
import pytest
import torch

from extrap.data.keyvalue import Padded, Records
from extrap.data.trials.base import Trials
from extrap.model.inspection import InspectedModel, defined, hidden
from extrap.tasks.sinks import FORMS, SinkAblation, other_slot
from tests.support.discover import gpt
from tests.support.hand import VOCABULARY, Texts, measure, oracle, reader, speak, values

L = 32
TEXT = Texts([32 + np.arange(4000) % 26])
READ = reader(oracle)


class Hand:
    """A reader of every record that says BOS once a token at `needs` is hidden."""

    maskable = True

    def __init__(self, needs=None):
        self.needs, self.hidden = needs, []

    def __call__(self, tokens, last):
        return READ(tokens, last)

    def without(self, tokens, slot, last):
        self.hidden.append(slot)
        if slot == self.needs:
            return speak(torch.full((len(tokens),), VOCABULARY.bos))
        return READ(tokens, last)


def task(**options):
    return SinkAblation(**{"multiples": (1, 2), "trials": 12} | options)


def test_who_needs_the_first_token_loses_everything_by_it_alone():
    result = measure(task(), Hand(needs=0), TEXT, L)
    for (protocol, *_), accuracy in values(result, "accuracy").items():
        assert accuracy == (not protocol.endswith("-first"))
    assert values(result, "change") == {
        (f"{form}{reading}", n): {"-first": -1.0, "-other": 0.0}[reading]
        for form in ("records", "padded")
        for reading in ("-first", "-other")
        for n in (L, 2 * L)
    }
    assert {r["status"] for r in result.rows} == {"ok"}


def test_who_does_not_learn_the_task_is_marked_in_all_three_readings():
    class Mute(Hand):
        def __call__(self, tokens, last):
            return speak(torch.full((len(tokens),), VOCABULARY.bos))

    result = measure(task(ask=("padded",)), Mute(), TEXT, L)
    assert {r["status"] for r in result.rows} == {"not trained"}
    assert {r["protocol"] for r in result.rows} == {"padded", "padded-first", "padded-other"}


def test_a_model_without_a_mask_has_the_plain_reading_alone():
    model = Hand()
    model.maskable = False
    result = measure(task(), model, TEXT, L)
    assert {r["protocol"] for r in result.rows} == {"records", "padded"} and not model.hidden


@pytest.mark.parametrize("form", [Records(), Padded(8), FORMS["alias"]], ids=str)
def test_the_control_hides_nothing_that_is_asked_for(form):
    for depth in (0, 0.25, 0.45, 0.5, 0.55, 1):
        asked = form.questions(Trials(VOCABULARY, TEXT.stream("validation"), L, range(4)), depth)
        slot = other_slot(asked)
        assert abs(slot - L // 2) <= 2
        gold = L - 1 - asked.distance
        for row, answer in zip(asked.tokens, asked.answers, strict=True):
            assert row[gold + 1] == answer[0]
            assert slot not in (0, gold, gold + 1, L - 1)


@pytest.mark.parametrize("name", ["rope", "alibi", "cope", "softmax-1", "window", "shaw"])
def test_a_hidden_token_has_no_weight_in_any_layer_and_changes_no_kernel(name):
    """The fast kernels with the token hidden, against the definition with its column taken out."""
    model = gpt(name)
    tokens = torch.randint(50, (2, 12), generator=torch.Generator().manual_seed(0))
    inspected = InspectedModel(model, model, lambda layers: model)
    found = inspected.without(tokens, 3, last=12)
    kept = {}
    with inspected.changed(sees=hidden(3)):
        expected = inspected(tokens, last=12, attend=defined(kept))
    torch.testing.assert_close(found, expected)
    for a in kept.values():
        assert (a[:, :, 4:, 3] == 0).all() and (a[:, :, 3, 3] > 0).all()
        assert (a[:, :, :3, 3] == 0).all(), "not before its time"
    assert (found[:, :3] == inspected(tokens, last=12)[:, :3]).all()
    assert not torch.equal(found[:, 4:], inspected(tokens, last=12)[:, 4:])


def test_layers_that_own_attention_have_no_mask():
    assert not InspectedModel(gpt("delta-rule"), None, None).maskable
    assert InspectedModel(gpt("rope"), None, None).maskable
