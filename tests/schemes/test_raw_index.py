"""The raw index: erased by LayerNorm in its broadcast form, and only there. SCHEMES.md P1."""

import pytest
import torch

from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.scheme import Scheme, Shape, Where
from extrap.schemes.nope import NoPE
from extrap.schemes.raw_index import RawIndex


def raw(shape: Shape, direction: str = "broadcast", step: float = 1.0) -> Scheme:
    torch.manual_seed(0)
    if direction != "broadcast":
        return RawIndex(shape, direction, step)
    with pytest.warns(UserWarning, match=f"norm={shape.norm}"):
        return RawIndex(shape, direction, step)


def logits(scheme: Scheme, norm: str) -> torch.Tensor:
    torch.manual_seed(1)
    model = GPT(scheme, 50, Decoder(32, 2, 4, norm=norm)).double()
    with torch.no_grad():
        return model(torch.randint(50, (2, 64), generator=torch.Generator().manual_seed(0)))


@pytest.mark.parametrize("direction", ["broadcast", "channel", "random-unit"])
@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_only_broadcast_under_layer_norm_is_nope(direction, norm):
    shape = Shape(32, 4, 2, norm=norm)
    gap = float((logits(raw(shape, direction), norm) - logits(NoPE(shape), norm)).abs().max())
    same = (direction, norm) == ("broadcast", "layer")
    assert gap < 1e-9 if same else gap > 1e-2


def embedded(scheme: Scheme, token: list[float], position: float) -> torch.Tensor:
    at = Where.whole(torch.tensor([position], dtype=torch.float64), 1.0)
    return scheme.double().embed(torch.tensor([[token]], dtype=torch.float64), at)[0, 0]


@pytest.mark.parametrize(
    ("direction", "norm"), [("broadcast", 8**0.5), ("channel", 1.0), ("random-unit", 1.0)]
)
def test_size_and_linearity_of_what_is_added(direction, norm):
    scheme = raw(Shape(8, 2), direction, step=0.5)
    one, many = embedded(scheme, [0.0] * 8, 2), embedded(scheme, [0.0] * 8, 7)
    torch.testing.assert_close(
        one.norm(), torch.tensor(norm, dtype=torch.float64), atol=1e-6, rtol=0
    )
    torch.testing.assert_close(many, 3.5 * one, atol=1e-12, rtol=0)
