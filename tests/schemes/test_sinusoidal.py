"""Sinusoids against the half layout of transformers. SCHEMES.md P2."""

import pytest
import torch

from extrap.model.scheme import Shape, Where
from extrap.schemes.sinusoidal import Sinusoidal


def table(t: torch.Tensor, dim: int, **options) -> torch.Tensor:
    """What is added to a token of zeros at coordinates t."""
    at = Where.whole(t.double(), 1.0)
    return Sinusoidal(Shape(dim, 1), **options).embed(
        torch.zeros(1, len(t), dim, dtype=torch.float64), at
    )[0]


def close(a: torch.Tensor, b, tolerance: float = 1e-9) -> None:
    torch.testing.assert_close(a, torch.as_tensor(b, dtype=a.dtype), atol=tolerance, rtol=0)


@pytest.mark.parametrize(("length", "dim"), [(1, 2), (50, 8), (300, 64), (129, 20)])
def test_transformers_has_the_same_table_in_half_layout(length, dim):
    """y[p] = x[2p], y[p + dim / 2] = x[2p + 1] converts interleaved to half."""
    from transformers.models.roformer.modeling_roformer import RoFormerSinusoidalPositionalEmbedding

    theirs = RoFormerSinusoidalPositionalEmbedding(length, dim).create_weight()
    to_half = torch.cat([torch.arange(0, dim, 2), torch.arange(1, dim, 2)])
    close(table(torch.arange(length), dim).float()[:, to_half], theirs, 1e-5)


def test_original_scale_multiplies_the_token_once():
    x = torch.randn(2, 5, 16, dtype=torch.float64)
    scheme, at = (
        Sinusoidal(Shape(16, 2), emb_scale=4.0, layers="every"),
        Where.whole(torch.arange(5.0).double(), 1.0),
    )
    close(scheme.embed(x, at), 4 * x + table(torch.arange(5), 16))
    close(scheme.embed(x, at.at_layer(1, x)), x + table(torch.arange(5), 16))
