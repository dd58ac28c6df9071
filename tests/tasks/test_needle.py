"""Rows of what heads do with the record asked for: a model made by hand, and real ones."""

from math import exp

import numpy as np
import pytest
import torch

from extrap.data.trials.base import Trials
from extrap.model.inspection import InspectedModel
from extrap.model.scheme import Scheme, Shape, place
from extrap.tasks.diagnosis.inputs import with_record
from extrap.tasks.needle import Needle
from extrap.tasks.sinks import FORMS
from tests.support.discover import gpt
from tests.support.hand import VOCABULARY as V
from tests.support.hand import Texts, cells, measure, speak

L = 16
TEXT = Texts([32 + np.arange(4000) % 26])


@pytest.mark.parametrize("form", ["records", "padded", "alias"])
def test_the_two_tokens_of_the_record_are_the_tokens_asked_for(form):
    asked = with_record(FORMS[form], Trials(V, TEXT.stream("validation"), 32, range(9)))
    assert (asked.own.sum(1) == 2).all()
    for tokens, target, own in zip(*asked, strict=True):
        key, value = tokens[own]
        assert value == target
        assert key in V.key_ids and (form == "alias" or key == tokens[-1])


SCALE = 4.0


class Hand:
    """One layer of two heads, NoPE. Keys of head 0 are the tokens in front, so that its last query
    finds the value asked for, at a logit of SCALE; head 1 looks at everything alike.
    """

    scheme = Scheme(Shape(2 * V.size, 2, length=L))

    def __init__(self, learned: bool = True):
        self.learned = learned

    def __call__(self, tokens, last):
        found = (tokens[:, :-1] == tokens[:, -1:]).double().argmax(1) + 1
        said = tokens.gather(1, found[:, None])[:, 0]
        return speak(said if self.learned else torch.full((len(tokens),), V.bos))

    def silenced(self, tokens, heads, last):
        mute = speak(torch.full((len(tokens),), V.bos))
        return mute if (0, 0) in heads else self(tokens, last)

    def towards(self, targets, layer):
        """Head 0 writes tokens as they are, head 1 what counts against the answer."""
        one = torch.nn.functional.one_hot(targets, V.size).double()
        return torch.stack([one, -one], 1)

    def projected(self, tokens):
        B, T = tokens.shape
        one = torch.nn.functional.one_hot(tokens, V.size).double()
        q, k = torch.zeros(2, B, 2, T, V.size, dtype=torch.float64)
        q[:, 0] = SCALE / self.scheme.scale * one
        k[:, 0, 1:] = one[:, :-1]
        at = place(self.scheme, torch.arange(T, dtype=torch.float64))
        return {0: (q, k, one[:, None].expand(-1, 2, -1, -1), at.at_layer(0, one))}


def task(**options) -> Needle:
    return Needle(**{"multiples": (1, 2), "inputs": 8, "swaps": 4} | options)


def test_rows_of_heads_and_of_the_head_that_finds_the_record():
    result = measure(task(), Hand(), TEXT, L)
    assert {row["status"] for row in result.rows} == {"ok"}
    expected = {
        "margin": lambda n: (SCALE, 0.0),
        "mass": lambda n: ((exp(SCALE) + 1) / (exp(SCALE) + n - 1), 2 / n),
    }
    for metric, of in expected.items():
        of_heads = cells(result, metric, "head", "length")
        rows = [row for row in result.rows if row["metric"] == metric and "head" not in row]
        best = {row["length"]: row["value"] for row in rows}
        for n in (L, 2 * L):
            assert of_heads[0, n] == pytest.approx(of(n)[0])
            assert of_heads[1, n] == pytest.approx(of(n)[1])
            assert best[n] == pytest.approx(of(n)[0])
    assert cells(result, "symbolic", "head", "length")[0, L] == pytest.approx(1)
    assert cells(result, "positional", "head", "length")[0, L] < 0.2
    assert cells(result, "positional", "head", "length")[1, L] == pytest.approx(1)
    accuracy = cells(result, "accuracy", "protocol", "length")
    expected = {"records": 1.0, "records-mass_1": 0.0, "records-locos_1": 0.0}
    assert accuracy == {(form, n): a for form, a in expected.items() for n in (L, 2 * L)}
    diluted = cells(result, "mass", "head", "length")
    assert diluted[0, 2 * L] < diluted[0, L] < 1


def test_locos_counts_what_is_written_of_the_record_in_right_answers():
    """A head that writes the tokens that it sees: of the record the answer, of the others its
    repeats; by hand, over the questions answered.
    """

    class Half(Hand):
        """Answers every second question."""

        def __call__(self, tokens, last):
            right = super().__call__(tokens, last)
            right[1::2] = speak(torch.full((len(tokens),), V.bos))[1::2]
            return right

    result = measure(task(multiples=(1,)), Half(), TEXT, L)
    asked = with_record(FORMS["records"], Trials(V, TEXT.stream("validation"), L, range(8)))
    scores = []
    for row, target, own in zip(*asked, strict=True):
        place_of = own.nonzero()[1, 0].item()
        logits = [SCALE if j == place_of else 0.0 for j in range(L)]
        total = sum(map(exp, logits))
        phi = [
            exp(s) / total * (token == target).item() for s, token in zip(logits, row, strict=True)
        ]
        of_own = sum(p for p, mark in zip(phi, own, strict=True) if mark)
        scores.append(of_own - 2 / (L - 2) * (sum(phi) - of_own))
    found = [row for row in result.rows if row["metric"] == "locos"]
    assert [row["n"] for row in found] == [4, 4]
    assert found[0]["value"] == pytest.approx(np.mean(scores[::2]))
    assert found[1]["value"] < 0 < found[0]["value"]


def test_who_answers_nothing_has_no_locos():
    rows = measure(task(), Hand(False), TEXT, L).rows
    assert not [row for row in rows if row["metric"] == "locos" or "locos" in row["protocol"]]


def test_who_does_not_find_records_is_marked():
    assert {row["status"] for row in measure(task(), Hand(False), TEXT, L).rows} == {"not trained"}


def test_a_hidden_record_has_no_margin_and_no_mass():
    class Blind(Hand):
        """Sees the last two tokens alone."""

        def projected(self, tokens):
            q, k, v, at = super().projected(tokens)[0]
            seen = place(Near(self.scheme.shape), at.k)
            return {0: (q, k, v, seen.at_layer(0, at.x))}

    class Near(Scheme):
        def sees(self, at):
            return at.back < 2

    Blind.scheme = Near(Hand.scheme.shape)
    result = measure(task(inputs=4), Blind(), TEXT, L)
    assert not cells(result, "margin", "head")
    assert min(cells(result, "mass", "head", "length").values()) < 0.5
    assert all(np.isfinite(row["value"]) for row in result.rows)


def test_weights_that_are_no_numbers_are_diverged():
    class Lost(Hand):
        def projected(self, tokens):
            lost = torch.nan if tokens.shape[1] > L else 1.0
            q, *others = super().projected(tokens)[0]
            return {0: (q * lost, *others)}

    for row in measure(task(), Lost(), TEXT, L).rows:
        lost = row["length"] > L and row["metric"] != "accuracy"
        assert (row["value"] != row["value"], row["status"]) == (lost, "diverged" if lost else "ok")


@pytest.mark.parametrize("name", ["rope", "delta-rule", "window", "polar"])
def test_rows_of_a_real_model_are_finite(name):
    model = gpt(name, length=L, vocab=V.size)
    inside = InspectedModel(model, model, lambda _: model)
    rows = measure(task(multiples=(1,), ask=("records", "alias")), inside, TEXT, L).rows
    assert all(np.isfinite(row["value"]) for row in rows)
    metrics = {row["metric"] for row in rows}
    assert metrics >= {"mass", "accuracy", "gate"}
    assert ("margin" in metrics) == ("symbolic" in metrics) == (name != "delta-rule")
    keys = [tuple(row.get(k) for k in ("protocol", "metric", "layer", "head")) for row in rows]
    assert len(set(keys)) == len(keys)
