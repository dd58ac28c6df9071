"""The temperature of YaRN and LongRoPE: on all content logits, or on channels that turn."""

from math import log

import pytest
import torch

from extrap.extensions.by_parts import NTKByParts, YaRN
from extrap.extensions.longrope import LongRoPE
from extrap.model.scheme import Shape, place, weights
from extrap.runs.identity import as_before
from extrap.schemes.partial_rope import PartialRoPE
from extrap.schemes.rope import RoPE
from tests.support.discover import node

L, D, S = 64, 8, 4.0
SHAPE = Shape(2 * D, 2, 1, L, 61)


def attention(scheme, n: int, louder: float = 1.0, channels: int = 0) -> torch.Tensor:
    """Weights of attention, of queries and keys whose first channels are louder."""
    q, k = torch.randn(2, 1, 2, n, D, generator=torch.Generator().manual_seed(0)).double()
    by = torch.ones(D).double()
    by[:channels] = louder
    at = place(scheme, torch.arange(n).double()).at_layer(0, torch.zeros(1, n, 2 * D))
    return weights(scheme, *scheme.rotate(q * by, k * by, at), at)


def extended(extension, scheme):
    return extension.applied(scheme)


@pytest.mark.parametrize("layout", ["half", "interleaved"])
@pytest.mark.parametrize("n", [L // 2, 3 * L])
def test_channels_that_turn_are_louder(layout, n):
    """Half of the channels turn: these alone, by .1 ln s + 1 under YaRN at every length."""

    def scheme():
        return PartialRoPE(SHAPE, layout=layout)

    found = attention(extended(YaRN(S, temperature="channels"), scheme()), n)
    plain = extended(NTKByParts(S), scheme())
    slower = extended(YaRN(S, slope=0.0), scheme())
    torch.testing.assert_close(found, attention(slower, n, 0.1 * log(S) + 1, D // 2))
    hot = attention(extended(YaRN(S), scheme()), n)  # a model trained here: all logits
    torch.testing.assert_close(hot, attention(slower, n, 0.1 * log(S) + 1, D))
    assert not torch.allclose(found, hot, atol=1e-4)
    assert not torch.allclose(attention(plain, n), hot, atol=1e-4)


@pytest.mark.parametrize("n", [L // 2, 3 * L])
def test_longrope_is_louder_at_every_length(n):
    """By the root of 1 + ln s / ln L; on logits it heats past L alone."""
    found = attention(extended(LongRoPE(S, temperature="channels"), RoPE(SHAPE)), n)
    hot = attention(extended(LongRoPE(S), RoPE(SHAPE)), n)
    slower = RoPE(SHAPE) if n <= L else extended(YaRN(S, slope=0.0), RoPE(SHAPE))
    by = (1 + log(S) / log(L)) ** 0.5
    torch.testing.assert_close(found, attention(slower, n, by, D))
    torch.testing.assert_close(hot, attention(slower, n, by if n > L else 1.0, D))


def test_where_all_channels_turn_both_are_the_same():
    found, hot = (
        attention(extended(YaRN(S, temperature=where), RoPE(SHAPE)), 3 * L)
        for where in ("channels", "logits")
    )
    torch.testing.assert_close(found, hot)


def test_a_norm_behind_the_rotation():
    """If it takes the factor away, nothing is louder; if it mixes channels, the option is wrong."""
    scheme = RoPE(SHAPE)
    scheme.louder = False
    found = attention(extended(YaRN(S, temperature="channels"), scheme), 3 * L)
    torch.testing.assert_close(found, attention(extended(YaRN(S, slope=0.0), RoPE(SHAPE)), 3 * L))
    scheme.louder = None
    with pytest.raises(ValueError, match="temperature=logits works there"):
        extended(YaRN(S, temperature="channels"), scheme)


@pytest.mark.parametrize("name", ["yarn", "longrope", "yarn-all-layers"])
def test_evaluations_from_before_the_option_keep_their_hash(name):
    """At its default it is left out, wherever it stands; at another value it counts."""
    options = node("extension", name)
    assert "temperature" in str(options) and "temperature" not in str(as_before(options))
    assert as_before(options | {"temperature": "channels"})["temperature"] == "channels"
    assert set(options) - set(as_before(options)) <= {"temperature"}
