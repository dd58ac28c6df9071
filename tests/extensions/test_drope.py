"""DroPE leaves what a scheme is without its rotation, and is tuned on windows of the training
length.
"""

import pytest
import torch

from extrap.extensions.drope import DroPE
from extrap.model.scheme import Scheme, Shape
from extrap.model.stack import Stack
from extrap.schemes.log_n import LogN
from extrap.schemes.rope import RoPE
from extrap.schemes.vo_rope import VORoPE
from tests.support.jobs import job
from tests.support.scheme_case import around, close

SHAPE = Shape(dim=16, heads=2, layers=2, length=24, vocab=30)
TEXT = torch.randint(30, (2, 60), generator=torch.Generator().manual_seed(0))


@torch.no_grad()
@pytest.mark.parametrize(
    "made, left",
    [
        (lambda: RoPE(SHAPE), lambda: Scheme(SHAPE)),
        (lambda: Stack(SHAPE, [RoPE(SHAPE), LogN(SHAPE)]), lambda: LogN(SHAPE)),
        (lambda: Stack(SHAPE, [RoPE(SHAPE), VORoPE(SHAPE)]), lambda: Scheme(SHAPE)),
    ],
)
def test_what_is_left_are_the_other_parts(made, left):
    model, bare = around(made()), around(left())
    close(DroPE()(model)(TEXT), bare(TEXT))
    assert (model(TEXT) - bare(TEXT)).abs().max() > 1e-3


def test_it_is_recalibrated_at_the_training_length():
    tuned = job("scheme=rope", "finetune=full", "extension=drope").training
    assert (tuned.factor, tuned.length) == (1.0, tuned.source.length)
    tuned.check()
