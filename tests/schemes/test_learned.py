"""Learned tables and what lies past them."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from extrap.model.scheme import OutOfRange, Shape, Where
from extrap.schemes.learned import Learned, read
from tests.support.scheme_case import around, close

P = torch.tensor([[1.0], [2.0], [4.0]], dtype=torch.float64)
SHAPE = Shape(8, 2, layers=2, length=16)


def rows(t, policy: str, table: torch.Tensor = P) -> torch.Tensor:
    return read(table, torch.as_tensor(t, dtype=torch.float64), policy)[:, 0]


def test_every_layer_has_a_table_of_its_own():
    scheme, x = Learned(SHAPE, layers="every"), torch.randn(3, 16, 8)
    assert scheme.table.shape == (2, 16, 8)
    for layer in range(2):
        at = Where.whole(torch.arange(16.0).double(), 1.0, layer=layer)
        assert torch.equal(scheme.embed(x, at), x + scheme.table[layer])


@settings(max_examples=15, deadline=None)
@given(t=st.floats(0, 14.999))
def test_fractional_coordinates_are_read_linearly(t):
    table = torch.randn(16, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for policy in ("raise", "clamp", "interpolate", "hierarchical"):
        value = read(table, torch.tensor([t], dtype=torch.float64), policy)[0]
        close(value, (1 - t % 1) * table[int(t)] + t % 1 * table[int(t) + 1])


def test_clamp_repeats_the_last_row():
    assert rows([0, 1, 2, 3, 1000], "clamp").tolist() == [1, 2, 4, 4, 4]


@pytest.mark.parametrize("T", [17, 40, 160])
def test_interpolate_against_the_formula(T):
    table = torch.randn(16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    expected: list[float] = []
    for i in range(T):
        at = i * 15 / (T - 1)
        low = min(int(at), 14)
        expected.append(float(table[low] + (at - low) * (table[low + 1] - table[low])))
    assert rows(range(T), "interpolate", table[:, None]).tolist() == pytest.approx(expected)
    assert expected[0] == table[0] and abs(expected[-1] - table[-1]) < 1e-12


def test_hierarchical_against_the_formula_and_inside_the_table():
    table = torch.randn(5, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    u = [(table[a] - 0.4 * table[0]) / 0.6 for a in range(5)]
    expected = torch.stack([0.4 * u[a] + 0.6 * u[b] for a in range(5) for b in range(5)])
    found = read(table, torch.arange(25.0).double(), "hierarchical")
    close(found, expected)
    close(found[:5], table)


@pytest.mark.parametrize(("policy", "longest"), [("raise", 16), ("hierarchical", 256)])
@torch.no_grad()
def test_a_finite_table_ends(policy, longest):
    model = around(Learned(SHAPE, policy=policy))
    assert model.scheme.limit == longest
    assert model(torch.zeros(1, longest, dtype=torch.long)).isfinite().all()
    with pytest.raises(OutOfRange):
        model(torch.zeros(1, longest + 1, dtype=torch.long))
