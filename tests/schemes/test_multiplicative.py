"""Positions that multiply. SCHEMES.md P6."""

import pytest
import torch

from extrap.model.decoder import Decoder
from extrap.model.functional import sinusoid
from extrap.model.gpt import GPT
from extrap.model.scheme import OutOfRange, Shape, Where
from extrap.schemes.multiplicative import MultiplicativeLearned, MultiplicativeSinusoidal

SHAPE = Shape(8, 2, length=12)
X = torch.randn(2, 12, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
AT = Where.whole(torch.arange(12, dtype=torch.float64), 1.0)


def test_learned_table_multiplies_row_by_row():
    scheme = MultiplicativeLearned(SHAPE).double()
    y = scheme.embed(X, AT)
    for i in range(12):
        for c in range(8):
            assert torch.equal(y[:, i, c], X[:, i, c] * scheme.table[i, c])


def test_learned_table_starts_near_one():
    table = MultiplicativeLearned(Shape(64, 1, length=512)).table
    assert abs(table.mean().item() - 1) < 1e-3 and 0.019 < table.std().item() < 0.021


def test_a_table_of_ones_is_nope():
    scheme = MultiplicativeLearned(SHAPE).double()
    scheme.table.data.fill_(1)
    assert torch.equal(scheme.embed(X, AT), X)


def test_fractional_coordinates_are_read_linearly():
    scheme = MultiplicativeLearned(SHAPE).double()
    y = scheme.embed(
        torch.ones(1, 1, 8, dtype=torch.float64),
        Where.whole(torch.tensor([2.25], dtype=torch.float64), 1.0),
    )
    torch.testing.assert_close(
        y[0, 0], 0.75 * scheme.table[2] + 0.25 * scheme.table[3], atol=1e-12, rtol=0
    )


def test_learned_table_is_undefined_past_its_rows():
    model = GPT(MultiplicativeLearned(SHAPE), 20, Decoder(8, 1, 2))
    with pytest.raises(OutOfRange, match="past the 12 positions"):
        model(torch.zeros(1, 13, dtype=torch.long))


def test_sinusoidal_never_erases_token_zero():
    y = MultiplicativeSinusoidal(SHAPE, amplitude=0.5).embed(X, AT)
    torch.testing.assert_close(y, X * (1 + 0.5 * sinusoid(AT.q, 8)), atol=1e-12, rtol=0)
    assert torch.equal(y[:, 0, 0::2], X[:, 0, 0::2])
    assert torch.equal(y[:, 0, 1::2], 1.5 * X[:, 0, 1::2])


@pytest.mark.parametrize("scheme", [MultiplicativeLearned(SHAPE), MultiplicativeSinusoidal(SHAPE)])
def test_only_the_token_embedding_is_touched(scheme):
    assert scheme.embed(X, AT.at_layer(1, X)) is X


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MultiplicativeLearned(SHAPE, rows=11), "rows=11"),
        (lambda: MultiplicativeSinusoidal(SHAPE, amplitude=0.0), "amplitude=0.0"),
        (lambda: MultiplicativeSinusoidal(SHAPE, base=1.0), "base=1.0"),
        (lambda: MultiplicativeSinusoidal(Shape(7, 1)), "dim=7"),
    ],
)
def test_refuses(make, message):
    with pytest.raises(ValueError, match=message):
        make()
