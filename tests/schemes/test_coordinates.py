"""Schemes by distance at coordinates that are not known to be even."""

import pytest
import torch

from extrap.model.scheme import Scheme, Shape
from tests.support.discover import scheme
from tests.support.scheme_case import at, close, hidden, moved, qkv

SHAPE = Shape(dim=16, heads=2, layers=2, length=64)
NAMES = [
    *("alibi", "cope", "deberta", "fire", "forgetting", "kerple-log", "kerple-power", "sandwich"),
    *("shaw", "t5", "t5-urpe", "transformer-xl", "tupe-a", "tupe-r", "urpe", "xlnet"),
]


def attended(s: Scheme, t: torch.Tensor, known_even: bool) -> torch.Tensor:
    place = at(s, t, layer=1, x=hidden(SHAPE, len(t)))
    return s.attend(*qkv(SHAPE, len(t)), place if known_even else place.moved(t, t, "as if uneven"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("spacing", [1.0, 0.25, 0.1])
@torch.no_grad()
def test_even_coordinates_need_not_be_known_to_be_even(name, spacing):
    s, t = moved(scheme(name, SHAPE), 0.3), torch.arange(20, dtype=torch.float64) * spacing
    close(attended(s, t, known_even=True), attended(s, t, known_even=False), 1e-9)
