"""What is added to a token embedding, or multiplies it, against formulas and other
implementations.
"""

import pytest
import torch

from extrap.model.functional import sinusoid
from extrap.model.scheme import Scheme, Shape, Where
from extrap.schemes.concatenated import ConcatenatedProjected, ConcatenatedSplit
from extrap.schemes.digits import Digits
from extrap.schemes.multiplicative import MultiplicativeLearned, MultiplicativeSinusoidal
from extrap.schemes.raw_index import RawIndex
from extrap.schemes.sinusoidal import Sinusoidal
from tests.support.scheme_case import close


def table(t: torch.Tensor, dim: int, **options) -> torch.Tensor:
    """What is added to a token of zeros at coordinates t."""
    at = Where.whole(t.double(), 1.0)
    return Sinusoidal(Shape(dim, 1), **options).embed(
        torch.zeros(1, len(t), dim, dtype=torch.float64), at
    )[0]


def assert_near(a: torch.Tensor, b, tolerance: float = 1e-9) -> None:
    torch.testing.assert_close(a, torch.as_tensor(b, dtype=a.dtype), atol=tolerance, rtol=0)


@pytest.mark.parametrize(("length", "dim"), [(1, 2), (50, 8), (300, 64), (129, 20)])
def test_sinusoidal_equals_the_half_layout_of_transformers(length, dim):
    """y[p] = x[2p], y[p + dim / 2] = x[2p + 1] converts interleaved to half."""
    from transformers.models.roformer.modeling_roformer import RoFormerSinusoidalPositionalEmbedding

    theirs = RoFormerSinusoidalPositionalEmbedding(length, dim).create_weight()
    to_half = torch.cat([torch.arange(0, dim, 2), torch.arange(1, dim, 2)])
    assert_near(table(torch.arange(length), dim).float()[:, to_half], theirs, 1e-5)


def test_sinusoidal_scale_multiplies_the_token_once():
    x = torch.randn(2, 5, 16, dtype=torch.float64)
    scheme, at = (
        Sinusoidal(Shape(16, 2), emb_scale=4.0, layers="every"),
        Where.whole(torch.arange(5.0).double(), 1.0),
    )
    assert_near(scheme.embed(x, at), 4 * x + table(torch.arange(5), 16))
    assert_near(scheme.embed(x, at.at_layer(1, x)), x + table(torch.arange(5), 16))


WIDE = Shape(16, 2)
PLACES = torch.arange(9, dtype=torch.float64)
NINE = Where.whole(PLACES, 1.0)
TOKENS = torch.randn(2, 9, 16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize("width", [2, 8, 16, 40])
def test_projected_is_the_product_with_the_concatenation(width):
    scheme = ConcatenatedProjected(WIDE, width).double()
    beside = torch.cat([TOKENS, sinusoid(PLACES, width).expand(2, -1, -1)], -1)
    close(scheme.embed(TOKENS, NINE), beside @ scheme.projection)
    assert scheme.projection.shape == (16 + width, 16)


def test_projected_leaves_no_lone_channel_at_an_odd_width():
    scheme = ConcatenatedProjected(Shape(dim=15, heads=3)).double()
    assert scheme.projection.shape == (15 + 14, 15)
    beside = torch.cat([TOKENS[..., :15], sinusoid(PLACES, 14).expand(2, -1, -1)], -1)
    close(scheme.embed(TOKENS[..., :15], NINE), beside @ scheme.projection)


def test_split_replaces_a_quarter_of_the_token():
    y = ConcatenatedSplit(WIDE).embed(TOKENS, NINE)
    assert torch.equal(y[..., :12], TOKENS[..., :12])
    close(y[..., 12:], sinusoid(PLACES, 4).expand(2, -1, -1))


def digits_of(base: int, t: float, channels: int) -> list[float]:
    s = Digits(Shape(channels, 1), base)
    at = Where.whole(torch.tensor([t], dtype=torch.float64), 1.0)
    return s.embed(torch.zeros(1, 1, channels, dtype=torch.float64), at)[0, 0].tolist()


@pytest.mark.parametrize("base", [2, 3, 10])
def test_digits_equal_long_division(base):
    s, T = Digits(Shape(8, 2), base), 3000
    digits = s.digits(torch.arange(T, dtype=torch.float64))
    for i in range(T):
        left = i
        for c in range(8):
            left, digit = divmod(left, base)
            assert digits[i, c] == digit


def test_digits_of_wide_models_overflow_nothing():
    digits = Digits(Shape(4096, 2), 10).digits(torch.tensor([9e8], dtype=torch.float64))
    assert digits.isfinite().all() and digits.sum() == 9


def test_the_lowest_digit_moves_between_whole_positions():
    assert digits_of(2, 5.25, 4) == [1.25, 0, 1, 0]
    assert digits_of(10, 2.9999999999, 2) == pytest.approx([1 / 3, 0])


EIGHT = Shape(8, 2, length=12)
X = torch.randn(2, 12, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
AT = Where.whole(torch.arange(12, dtype=torch.float64), 1.0)


def test_learned_table_multiplies_row_by_row():
    scheme = MultiplicativeLearned(EIGHT).double()
    y = scheme.embed(X, AT)
    for i in range(12):
        for c in range(8):
            assert torch.equal(y[:, i, c], X[:, i, c] * scheme.table[i, c])


def test_sinusoidal_never_erases_token_zero():
    y = MultiplicativeSinusoidal(EIGHT, amplitude=0.5).embed(X, AT)
    torch.testing.assert_close(y, X * (1 + 0.5 * sinusoid(AT.q, 8)), atol=1e-12, rtol=0)
    assert torch.equal(y[:, 0, 0::2], X[:, 0, 0::2])
    assert torch.equal(y[:, 0, 1::2], 1.5 * X[:, 0, 1::2])


def raw(shape: Shape, direction: str = "broadcast", step: float = 1.0) -> Scheme:
    torch.manual_seed(0)
    if direction != "broadcast":
        return RawIndex(shape, direction, step)
    with pytest.warns(UserWarning, match=f"norm={shape.norm}"):
        return RawIndex(shape, direction, step)


def embedded(scheme: Scheme, token: list[float], position: float) -> torch.Tensor:
    at = Where.whole(torch.tensor([position], dtype=torch.float64), 1.0)
    return scheme.double().embed(torch.tensor([[token]], dtype=torch.float64), at)[0, 0]


@pytest.mark.parametrize(
    ("direction", "norm"), [("broadcast", 8**0.5), ("channel", 1.0), ("random-unit", 1.0)]
)
def test_size_and_linearity_of_a_raw_index(direction, norm):
    scheme = raw(Shape(8, 2), direction, step=0.5)
    one, many = embedded(scheme, [0.0] * 8, 2), embedded(scheme, [0.0] * 8, 7)
    torch.testing.assert_close(
        one.norm(), torch.tensor(norm, dtype=torch.float64), atol=1e-6, rtol=0
    )
    torch.testing.assert_close(many, 3.5 * one, atol=1e-12, rtol=0)
