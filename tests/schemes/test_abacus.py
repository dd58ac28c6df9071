"""Abacus: places against a loop, its offset, and numbers of any length in one table."""

import numpy as np
import pytest
import torch

from extrap.data.computed import Addition
from extrap.data.vocabulary import Vocabulary
from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.scheme import Shape
from extrap.runs.validate import check
from extrap.schemes.abacus import Abacus
from extrap.utils.errors import UserError
from tests.support.jobs import job

SHAPE = Shape(dim=8, heads=2, length=16, vocab=30)


def counted(tokens, first):
    """Places by a loop over the tokens."""
    out, run = [], 0
    for token in tokens:
        run = run + 1 if token >= first else 0
        out.append(run)
    return out


def test_places_are_counted_from_the_start_of_every_run():
    part = Abacus(SHAPE, ids=10)
    tokens = torch.randint(30, (50, 40), generator=torch.Generator().manual_seed(0))
    tokens[0] = 25  # one run
    tokens[1] = 0  # none
    assert part.place(tokens).tolist() == [counted(row, 20) for row in tokens.tolist()]


def added(part, tokens):
    """What a model of that scheme adds to its token embedding: (T, C)."""
    model = GPT(part, 30, Decoder(8, 1, 2)).train(part.training)
    at = model.where(tokens).at_layer(0, torch.zeros(*tokens.shape, 8))
    return part.embed(torch.zeros(*tokens.shape, 8), at)[0].detach()


def test_a_symbol_gets_the_row_of_its_place_and_nothing_else_gets_one():
    part = Abacus(SHAPE, ids=10, offset=4).eval()
    rows = added(part, torch.tensor([[3, 21, 29, 5, 20, 20, 20]]))
    zero = torch.zeros(8)
    expected = [zero, *part.table[:2], zero, *part.table[:3]]
    torch.testing.assert_close(rows, torch.stack(expected).detach())


def test_training_moves_all_places_by_one_offset_within_its_bound():
    part, seen = Abacus(SHAPE, ids=10, offset=3).train(), set()
    torch.manual_seed(0)
    for _ in range(60):
        rows = added(part, torch.tensor([[21, 29, 5, 20, 20]]))
        (k,) = (k for k in range(4) if torch.equal(rows[0], part.table[k].detach()))
        assert torch.equal(rows[1], part.table[k + 1].detach())
        assert torch.equal(rows[3:], part.table[k : k + 2].detach())
        seen.add(k)
    assert seen == {0, 1, 2, 3}


def test_digits_of_equal_worth_share_a_row_at_every_length():
    vocabulary = Vocabulary()
    part = Abacus(Shape(dim=8, heads=2, vocab=vocabulary.size))
    for n in (2, 9):
        tokens = Addition().string(np.random.default_rng(n), vocabulary, n)[0]
        places = part.place(torch.from_numpy(tokens)[None])[0].tolist()
        assert places == [0, *range(1, n + 1), 0, *range(1, n + 1), 0, *range(1, n + 2)]


def test_places_past_the_table_have_its_last_row():
    part = Abacus(SHAPE, ids=10, offset=0).eval()
    rows = added(part, torch.full((1, 20), 25))
    assert torch.equal(rows[15:], part.table[-1].detach().expand(5, 8))


def test_a_vocabulary_of_fewer_ids_is_all_symbols():
    assert Abacus(Shape(dim=8, heads=2, vocab=20)).place(torch.zeros(1, 3).long()).tolist() == [
        [1, 2, 3]
    ]


def test_a_job_refuses_other_symbols_than_its_values():
    words = ["scheme=abacus-rope", "data=addition", "stage=train"]
    check(job(*words, tiny=["logger=none"]))
    with pytest.raises(UserError, match=r"Abacus takes the last 64 ids .*values=128"):
        check(job(*words, "data.vocabulary.values=128", tiny=["logger=none"]))
