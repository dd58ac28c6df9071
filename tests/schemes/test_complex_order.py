"""Complex-order embedding against its formula. arXiv 1912.12333."""

import pytest
import torch

from extrap.model.scheme import Shape, Where
from extrap.schemes.complex_order import PACE, ComplexOrder

SHAPE = Shape(8, 2, length=12, vocab=5)
SHARING = ("word-channel", "word", "channel")
WORDS = torch.tensor([[0, 3, 1, 4, 2, 2, 0], [4, 4, 1, 0, 3, 2, 1]])
X = torch.randn(2, 7, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def scheme(sharing: str = "word-channel", shape: Shape = SHAPE, **options) -> ComplexOrder:
    torch.manual_seed(0)
    s = ComplexOrder(shape, sharing, **options).double()
    s.paced.data += torch.randn_like(s.paced)
    return s


def turned(
    s: ComplexOrder, x: torch.Tensor = X, shift: float = 0.0, words: torch.Tensor = WORDS
) -> torch.Tensor:
    """Complex (B, T, C / 2) after the scheme."""
    at = Where.whole(torch.arange(x.shape[1], dtype=torch.float64) + shift, 1.0, tokens=words)
    return torch.complex(*s.embed(x, at).chunk(2, -1))


@pytest.mark.parametrize("sharing", SHARING)
def test_against_the_formula(sharing):
    s = scheme(sharing)
    f = turned(s)
    for b in range(2):
        for i in range(7):
            w = WORDS[b, i]
            omega = {
                "word-channel": s.paced[w % len(s.paced)],
                "word": s.paced[w % len(s.paced)],
                "channel": s.paced,
            }[sharing] * PACE
            for c in range(4):
                z = torch.complex(X[b, i, c], X[b, i, c + 4])
                phase = z.angle() + (omega[0] if sharing == "word" else omega[c]) * i
                torch.testing.assert_close(
                    f[b, i, c], torch.polar(z.abs(), phase), atol=1e-12, rtol=0
                )


def test_no_frequency_and_no_phase_leave_the_amplitude():
    s = scheme(phase="zero")
    s.paced.data.zero_()
    f = turned(s)
    assert torch.equal(f.real, X[..., :4]) and not f.imag.any()


@pytest.mark.parametrize(
    ("sharing", "size"), [("word-channel", (5, 4)), ("word", (5, 1)), ("channel", (4,))]
)
def test_shapes_and_first_frequencies(sharing, size):
    s = ComplexOrder(SHAPE, sharing)
    assert s.paced.shape == size
    omega = s.omega(WORDS)
    if sharing == "word":
        assert (omega >= 1e-4).all() and (omega <= 1).all()
    else:
        torch.testing.assert_close(
            omega.expand(2, 7, 4)[1, 3],
            torch.tensor([1, 1, 0.01, 0.01], dtype=torch.float64),
            atol=1e-7,
            rtol=0,
        )
