"""Concatenation against its product; the sum is a special case. SCHEMES.md P3."""

import pytest
import torch

from extrap.model.decoder import Decoder
from extrap.model.functional import sinusoid
from extrap.model.gpt import GPT
from extrap.model.scheme import Shape, Where
from extrap.schemes.concatenated import ConcatenatedProjected, ConcatenatedSplit
from tests.support.scheme_case import close

SHAPE = Shape(16, 2)
T = torch.arange(9, dtype=torch.float64)
AT = Where.whole(T, 1.0)
X = torch.randn(2, 9, 16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


@pytest.mark.parametrize("width", [2, 8, 16, 40])
def test_projected_is_the_product_with_the_concatenation(width):
    scheme = ConcatenatedProjected(SHAPE, width).double()
    beside = torch.cat([X, sinusoid(T, width).expand(2, -1, -1)], -1)
    close(scheme.embed(X, AT), beside @ scheme.projection)
    assert scheme.projection.shape == (16 + width, 16)


def test_split_replaces_a_quarter_of_the_token():
    y = ConcatenatedSplit(SHAPE).embed(X, AT)
    assert torch.equal(y[..., :12], X[..., :12])
    close(y[..., 12:], sinusoid(T, 4).expand(2, -1, -1))


@pytest.mark.parametrize("head", ["untied", "tied"])
def test_a_tied_head_reads_the_idle_entries_of_a_split_embedding(head):
    """Untied they get no gradient; tied they serve the output alone."""
    model = GPT(ConcatenatedSplit(SHAPE), 20, Decoder(16, 1, 2, head=head))
    model(torch.arange(20)[None]).square().sum().backward()
    idle = model.embedding.weight.grad[:, 12:].abs().sum()
    assert bool(idle > 0) is (head == "tied")
