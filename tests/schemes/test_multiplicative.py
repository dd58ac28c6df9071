"""Positions that multiply. SCHEMES.md P6."""

import torch

from extrap.model.functional import sinusoid
from extrap.model.scheme import Shape, Where
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


def test_sinusoidal_never_erases_token_zero():
    y = MultiplicativeSinusoidal(SHAPE, amplitude=0.5).embed(X, AT)
    torch.testing.assert_close(y, X * (1 + 0.5 * sinusoid(AT.q, 8)), atol=1e-12, rtol=0)
    assert torch.equal(y[:, 0, 0::2], X[:, 0, 0::2])
    assert torch.equal(y[:, 0, 1::2], 1.5 * X[:, 0, 1::2])
