"""Position interpolation: coordinates over s, on rotations and on every other function of a
coordinate.
"""

import pytest
import torch

from extrap.extensions.interpolation import Interpolation
from extrap.model.scheme import Shape, Where
from extrap.schemes.sinusoidal import Sinusoidal
from tests.support.discover import scheme
from tests.support.extension_case import close
from tests.support.scheme_case import around

SHAPE = Shape(dim=16, heads=2, layers=2, length=16, vocab=50)


@pytest.mark.parametrize(
    "factor, T, s", [(4.0, 10, 4), (4.0, 60, 4), (None, 10, 1), (None, 40, 2.5)]
)
def test_positions(factor, T, s):
    extended = Interpolation(factor).extend(Sinusoidal(SHAPE))
    t = extended.positions(torch.arange(T, dtype=torch.float64))
    close(t, torch.arange(T, dtype=torch.float64) / s, 1e-12)


@pytest.mark.parametrize(
    "name",
    [
        *("complex-order", "floater", "floater-qkv", "mul-sinusoidal", "raw-index-channel"),
        *("sinusoidal-concat", "sinusoidal-split", "transformer-xl"),
    ],
)
@torch.no_grad()
def test_functions_of_a_coordinate(name):
    """A text of T tokens at factor s is one whose coordinates are i / s."""
    model = around(scheme(name, SHAPE))
    x = torch.arange(24)[None] * 7 % 50
    squeezed = Interpolation(3.0)(model)(x)
    assert not torch.allclose(squeezed, model(x), atol=1e-6)
    model.where = lambda tokens: Where.whole(
        torch.arange(24, dtype=torch.float64) / 3, model.scheme.scale, tokens=tokens
    )
    close(squeezed, model(x), 1e-12)
