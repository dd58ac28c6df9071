"""Retrieval heads, on a reader whose heads are made by hand, and silenced heads of real models."""

import numpy as np
import pytest
import torch

from extrap.model.inspection import InspectedModel
from extrap.tasks.heads import RetrievalHeads
from tests.support.discover import gpt
from tests.support.hand import VOCABULARY as V
from tests.support.hand import Texts, cells, measure, speak

L = 16
TEXT = Texts([np.arange(400) % 251])


class Hand:
    """Two layers of three heads: (1, 2) looks at the value asked for, (0, 1) at it in every second
    question, the others at BOS. Without (1, 2) it says BOS; with `spare`, only without (0, 1), too.
    """

    def __init__(self, spare=False):
        self.spare, self.asked = spare, []

    @staticmethod
    def place(tokens):
        """The slot after the first one of the key at the end."""
        return (tokens[:, :-1] == tokens[:, -1:]).double().argmax(1) + 1

    def attention(self, tokens):
        a = torch.zeros(2, len(tokens), 3, tokens.shape[1], tokens.shape[1])
        a[..., 0] = 0.4
        rows = torch.arange(len(tokens))
        a[1, rows, 2, -1, self.place(tokens)] = 0.6
        a[0, rows[::2], 1, -1, self.place(tokens)[::2]] = 0.6
        return a

    def __call__(self, tokens, last):
        return speak(tokens.gather(1, self.place(tokens)[:, None])[:, 0])

    def silenced(self, tokens, heads, last):
        self.asked.append(frozenset(heads))
        needed = {(1, 2), (0, 1)} if self.spare else {(1, 2)}
        if needed <= set(heads):
            return speak(torch.full((len(tokens),), V.bos))
        return self(tokens, last)


def task(**options):
    return RetrievalHeads(**{"multiples": (1, 2), "inputs": 20, "draws": 3} | options)


def test_copying_is_the_share_of_questions_in_which_a_head_looks_at_the_answer():
    result = measure(task(), Hand(), TEXT, L)
    for (layer, head, n), copying in cells(result, "copying", "layer", "head", "length").items():
        assert copying == {(1, 2): 1.0, (0, 1): 0.5}.get((layer, head), 0.0), n
    assert cells(result, "best", "length") == {(L,): 1.0, (2 * L,): 1.0}
    assert {row["status"] for row in result.rows} == {"ok"}


@pytest.mark.parametrize("spare", [False, True])
def test_what_is_lost_without_heads(spare):
    model = Hand(spare)
    result = measure(task(), model, TEXT, L)
    top_1 = 1.0 if spare else 0.0
    expected = {"whole": 1.0, "top_1": top_1, "random_1": 1.0, "top_2": 0.0, "random_2": 1.0}
    for n in (L, 2 * L):
        found = cells(result, "accuracy", "protocol", "length")
        assert {p: a for (p, m), a in found.items() if m == n} == expected
    change = cells(result, "change", "protocol", "length")
    assert all(c == expected[p] - 1 for (p, _), c in change.items())
    assert {len(heads) for heads in model.asked} == {1, 2}
    random = [h for h in model.asked if len(h) == 1 and h != {(1, 2)}]
    assert all((1, 2) not in heads for heads in random) and len(random) == 2 * 3


def test_heads_are_ranked_once_and_half_of_them_at_most_are_taken_out():
    model = Hand()
    result = measure(task(knocked=(3, 4)), model, TEXT, L)
    assert {p for (p,) in cells(result, "accuracy", "protocol")} == {"whole", "top_3", "random_3"}


def test_who_does_not_find_records_is_marked():
    class Mute(Hand):
        def __call__(self, tokens, last):
            return speak(torch.full((len(tokens),), V.bos))

    assert {row["status"] for row in measure(task(), Mute(), TEXT, L).rows} == {"not trained"}


@pytest.mark.parametrize("name", ["rope", "alibi", "delta-rule", "rope-gate", "polar"])
@torch.no_grad()
def test_a_silenced_head_is_one_whose_output_projection_is_zero(name):
    model = gpt(name)
    tokens = torch.randint(50, (2, 12), generator=torch.Generator().manual_seed(0))
    found = InspectedModel(model, model, lambda _: model).silenced(tokens, {(0, 1), (1, 3)}, 12)
    for layer, head in ((0, 1), (1, 3)):
        D = model.scheme.shape.head_dim
        model.blocks[layer].out.weight[:, head * D : (head + 1) * D] = 0
    torch.testing.assert_close(found, model(tokens))


def test_attention_and_logits_that_are_no_numbers_are_neither_right_nor_wrong():
    class Lost(Hand):
        def attention(self, tokens):
            return super().attention(tokens) * (torch.nan if tokens.shape[1] > L else 1)

        def __call__(self, tokens, last):
            return super().__call__(tokens, last) * (torch.nan if tokens.shape[1] > L else 1)

        def silenced(self, tokens, heads, last):
            return self(tokens, last)

    result = measure(task(), Lost(), TEXT, L)
    for row in result.rows:
        lost = row["length"] > L
        assert (row["value"] != row["value"], row["status"]) == (lost, "diverged" if lost else "ok")
