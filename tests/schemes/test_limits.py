"""Schemes that are another one at the end of an option's range, as they start, or at even
coordinates; without positions only the mask tells order.
"""

import pytest
import torch

from extrap.model.scheme import Scheme, Shape, Where
from extrap.schemes.learned_frequencies import LearnedFrequencies
from extrap.schemes.p_rope import PRoPE
from extrap.schemes.partial_rope import PartialRoPE
from extrap.schemes.rope import RoPE
from extrap.schemes.rope_id import RoPEID
from extrap.schemes.ssmax import AffineSSMax
from tests.support.discover import scheme
from tests.support.scheme_case import at, close, hidden, moved, qkv

SHAPE = Shape(dim=16, heads=2, length=64)
NOPE, ROPE, HALF = Scheme(SHAPE), RoPE(SHAPE), RoPE(SHAPE, layout="half")


@pytest.mark.parametrize(
    "ours, other",
    [
        (scheme("cope", SHAPE), NOPE),
        (scheme("t5", SHAPE), NOPE),
        (scheme("urpe", SHAPE), NOPE),
        (AffineSSMax(SHAPE), NOPE),
        (PRoPE(SHAPE, fraction=0.0), NOPE),
        (PRoPE(SHAPE, fraction=1.0, layout="half"), HALF),
        (PartialRoPE(SHAPE, fraction=1.0, layout="half"), HALF),
        (PartialRoPE(SHAPE, fraction=1.0, layout="interleaved"), ROPE),
        (RoPEID(SHAPE), PartialRoPE(SHAPE, base=RoPEID(SHAPE).base)),
        (scheme("hope", SHAPE, turns=0.0), ROPE),
        (scheme("fope", SHAPE, noise=0.0), PRoPE(SHAPE, fraction=0.5)),
        (LearnedFrequencies(SHAPE), ROPE),
        (scheme("multi-axis-rope", SHAPE, axes=1), ROPE),
        (scheme("xpos", SHAPE, gamma=1e15), ROPE),
    ],
    ids=lambda s: type(s).__name__,
)
@torch.no_grad()
def test_attends_like(ours, other):
    q, k, v = qkv(SHAPE, 9)
    close(ours.double().attend(q, k, v, at(ours, 9)), other.attend(q, k, v, at(other, 9)))


@pytest.mark.parametrize(
    "name",
    [
        *("learned", "sinusoidal", "sinusoidal-concat", "sinusoidal-split"),
        *("floater", "mul-learned", "mul-sinusoidal", "complex-order", "binary"),
    ],
)
def test_only_the_token_embedding_is_touched(name):
    x = torch.randn(1, 9, 16, dtype=torch.float64)
    place = Where.whole(torch.arange(9.0).double(), 1.0, tokens=torch.zeros(1, 9).long())
    embedding = scheme(name, SHAPE).double()
    assert not torch.equal(embedding.embed(x, place), x)
    assert embedding.embed(x, place.at_layer(1, x)) is x


EVEN = Shape(dim=16, heads=2, layers=2, length=64)
NAMES = [
    *("alibi", "cope", "deberta", "fire", "forgetting", "kerple-log", "kerple-power", "sandwich"),
    *("shaw", "t5", "t5-urpe", "transformer-xl", "tupe-a", "tupe-r", "urpe", "xlnet"),
]


def attended(s: Scheme, t: torch.Tensor, known_even: bool) -> torch.Tensor:
    place = at(s, t, layer=1, x=hidden(EVEN, len(t)))
    return s.attend(*qkv(EVEN, len(t)), place if known_even else place.moved(t, t, "as if uneven"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("spacing", [1.0, 0.25, 0.1])
@torch.no_grad()
def test_even_coordinates_need_not_be_known_to_be_even(name, spacing):
    s, t = moved(scheme(name, EVEN), 0.3), torch.arange(20, dtype=torch.float64) * spacing
    close(attended(s, t, known_even=True), attended(s, t, known_even=False), 1e-9)
