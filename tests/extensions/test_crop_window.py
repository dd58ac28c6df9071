"""The two baselines: the last L tokens alone, and a window of L tokens per layer."""

import pytest
import torch

from extrap.extensions.crop import Crop
from extrap.extensions.dynamic_ntk import DynamicNTK
from extrap.extensions.log_n import ClippedLogN
from extrap.extensions.ntk import NTK
from extrap.extensions.rerope import ReRoPE
from extrap.extensions.streaming import StreamingLLM
from extrap.extensions.window import Windowed
from extrap.model.scheme import Shape
from extrap.model.stack import Stack
from extrap.schemes.forgetting import Forgetting
from extrap.schemes.learned import Learned
from extrap.schemes.rope import RoPE
from extrap.schemes.sinusoidal import Sinusoidal
from extrap.schemes.stick_breaking import StickBreaking
from extrap.schemes.window import Window
from extrap.utils.errors import NotApplicable
from tests.support import discover
from tests.support.scheme_case import around, close, text

L = 16


def model(name: str):
    return discover.gpt(name, length=L)


@pytest.mark.parametrize("name", ["rope", "learned", "linear-rope"])
@pytest.mark.parametrize("stride", [1, 5, 8, 15])
@torch.no_grad()
def test_every_prediction_sees_between_l_minus_stride_and_l_tokens(name, stride):
    """The first token, then the last ones. Strides are counted from the end; what the first window
    covers is read as it is.
    """
    m, T = model(name), 50
    x = text(T)
    out = Crop(stride)(m)(x)
    end = T
    while end > L:
        window = torch.cat([x[:, :1], x[:, end - L + 1 : end]], 1)
        close(out[:, end - stride : end], m(window)[:, -stride:])
        end -= stride
    close(out[:, :end], m(x[:, :end]))


@torch.no_grad()
def test_one_window_serves_the_last_segment():
    m, x, sizes = model("rope"), text(50), []
    m.register_forward_pre_hook(lambda _, args: sizes.append(args[0].shape))
    Crop()(m)(x, last=L // 2)
    assert sizes == [(2, L)]


@torch.no_grad()
def test_a_window_hides_what_lies_past_it():
    """One layer: tokens out of the window change nothing; two layers reach twice as far."""
    x = text(40)
    y = x.clone()
    y[:, 5] = (y[:, 5] + 1) % 50
    for layers, reach in ((1, L), (2, 2 * L - 1)):
        m = discover.gpt("rope", length=L, layers=layers)
        a, b = Windowed()(m)(x), Windowed()(m)(y)
        close(a[:, 5 + reach :], b[:, 5 + reach :], 0)
        assert not torch.equal(a[:, 4 + reach], b[:, 4 + reach])


def windowed(width, part=RoPE):
    shape = Shape(dim=32, heads=4, layers=2, length=L, vocab=50)
    return around(Stack(shape, [part(shape), Window(shape, width)]))


@pytest.mark.parametrize(("width", "stride"), [(4, 8), (4, 9), (2, 13), (8, 1)])
def test_a_crop_that_takes_nothing_away_is_refused(width, stride):
    """Two layers that look width - 1 tokens back each."""
    with pytest.raises(NotApplicable):
        Crop(stride)(windowed(width))


@pytest.mark.parametrize(("width", "stride"), [(5, 8), (4, 10), (2, 14), (9, 1)])
@torch.no_grad()
def test_a_crop_that_takes_a_token_away_is_not(width, stride):
    m, x = windowed(width), text(60)
    assert not torch.allclose(Crop(stride)(m)(x)[:, L:], m(x)[:, L:], rtol=0, atol=1e-12)


@torch.no_grad()
def test_coordinates_are_a_reason_to_crop():
    """Windows alone would lose nothing; sinusoids of a cropped text are others."""
    m, x = windowed(4, Sinusoidal), text(60)
    assert not torch.allclose(Crop(8)(m)(x, last=1), m(x, last=1))


@pytest.mark.filterwarnings("ignore::UserWarning:extrap")
@torch.no_grad()
def test_chunks_end_elsewhere_in_a_crop():
    """They look no farther back than a crop reaches, and yet see other keys in it."""
    m, x = model("chunked-nope"), text(45)
    assert not torch.allclose(Crop()(m)(x), m(x), atol=1e-6)
    with pytest.raises(NotApplicable):
        Crop()(model("rnope-swa"))


@torch.no_grad()
def test_a_window_acts_on_a_scheme_that_forgets_what_is_far():
    """Past L, weights fall to 0 under random parameters and not under the parameters of a model:
    the mask tells that keys are hidden.
    """
    shape = Shape(16, 2, 2, L, 50)
    for own in (Forgetting(shape, gate=8.0), StickBreaking(shape)):
        m = around(own)
        assert not torch.equal(Windowed()(m)(text(64)), m(text(64))), type(own)
        assert StreamingLLM()(m)(text(64)).isfinite().all()


@pytest.mark.parametrize("length", [2**14, 2**15, 2**17])
def test_a_long_training_length_is_no_reason_to_refuse(length):
    m = around(RoPE(Shape(4, 2, 1, length, 50)))
    for extension in (Windowed(), ClippedLogN(), ReRoPE(width=16)):
        extension(m)


def test_what_is_undefined_past_its_table_is_asked_within():
    shape = Shape(16, 2, 2, L, 50)
    m = around(Stack(shape, [Learned(shape), RoPE(shape)]))
    with pytest.raises(NotApplicable):
        DynamicNTK(2.0)(m)
    NTK(2.0)(m)
