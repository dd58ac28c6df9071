"""Windows: who is seen, against transformers, and the reach they have together."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from extrap.model.scheme import Scheme, Shape
from extrap.schemes.window import ReachWindow, Window
from tests.support.scheme_case import at, lower

SHAPE = Shape(dim=8, heads=2, layers=3, length=64)


def place(s: Scheme, t):
    return replace(at(s, t), sees=s.sees)


@given(width=st.integers(1, 20), T=st.integers(1, 20))
@settings(max_examples=15, deadline=None)
def test_sees_what_transformers_sees(width, T):
    from transformers.masking_utils import sliding_window_overlay

    visible, theirs = place(Window(SHAPE, width), T).visible, sliding_window_overlay(width)
    for i in range(T):
        assert visible[i].tolist() == [j <= i and bool(theirs(0, 0, i, j)) for j in range(T)]


def test_counts_tokens_whatever_their_coordinates():
    t = torch.tensor([0, 0.5, 9, 100], dtype=torch.float64)
    assert torch.equal(place(Window(SHAPE, 2), t).visible, place(Window(SHAPE, 2), 4).visible)


def test_by_default_as_wide_as_the_training_length():
    s = Window(SHAPE)
    assert torch.equal(
        place(s, 66).visible, lower(66) & (torch.ones(66, 66, dtype=torch.bool).triu(-63))
    )


@pytest.mark.parametrize(
    "layers, alpha, width",
    [(2, 0.75, 48), (3, 0.75, 24), (4, 0.75, 16), (5, 0.5, 8), (49, 0.75, 1)],
)
def test_windows_reach_a_share_of_the_training_length(layers, alpha, width):
    s = ReachWindow(Shape(8, 2, layers=layers, length=64), alpha)
    assert s.width == width
    assert (width - 1) * (layers - 1) + 1 <= alpha * 64 < width * (layers - 1) + 1
    assert torch.equal(s.sees(at(s, 80)), Window(SHAPE, width).sees(at(s, 80)))
