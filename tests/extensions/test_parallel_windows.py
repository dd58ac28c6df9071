"""Parallel windows: places and sight against lists made by hand, and windows that read as if they
stood alone.
"""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from extrap.extensions.parallel_windows import ParallelWindows, Windows
from extrap.model.scheme import Shape, Where
from tests.support import discover
from tests.support.scheme_case import close, lower, text

L = 16


def lists(T: int, length: int, c: int) -> tuple[list[int], torch.Tensor]:
    """Coordinates, and who sees whom."""
    end = T - (length - c - 1)
    groups, stop = [list(range(end, T))], end
    while stop > 1:
        groups.append(list(range(max(1, stop - c), stop)))
        stop = groups[-1][0]
    place, sees = [0] * T, lower(T)
    for windows, group in enumerate(groups):
        last = length - 1 if windows == 0 else c
        for i in group:
            place[i] = last - (group[-1] - i)
            sees[i] &= torch.tensor([windows == 0 or j == 0 or j in group for j in range(T)])
    return place, sees


@given(T=st.integers(1, 60), length=st.integers(4, 20), data=st.data(), rows=st.integers(1, 60))
@settings(max_examples=40, deadline=None)
def test_places_and_sight(T, length, data, rows):
    c = data.draw(st.integers(1, length - 2))
    scheme = Windows(Shape(dim=8, heads=1, length=length), c)
    t = torch.arange(T, dtype=torch.float64)
    place, sees = (t.tolist(), lower(T)) if length >= T else lists(T, length, c)
    found = scheme.positions(t)
    assert found.tolist() == place
    assert found.max() < length
    at = Where.whole(found, 1.0, sees=scheme.sees)
    assert torch.equal(at.visible, sees)
    start = max(0, T - rows)
    assert torch.equal(at.block(start, T).visible, sees[start:])


@pytest.mark.parametrize(
    "name", ["rope", "alibi", "learned", "sinusoidal", "floater", "floater-qkv", "cope"]
)
@torch.no_grad()
def test_a_whole_window_reads_as_if_it_stood_alone_behind_the_first_token(name):
    model, x = discover.gpt(name, length=L), text(60)
    out = ParallelWindows()(model)(x)
    end = 60 - (L - 8 - 1)
    for stop in range(end, 9, -8):
        alone = model(torch.cat([x[:, :1], x[:, stop - 8 : stop]], 1))
        close(out[:, stop - 8 : stop], alone[:, 1:], 1e-9)
    assert out.isfinite().all()
