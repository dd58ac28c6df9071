"""Learned tables and what lies past them. SCHEMES.md P4, X17."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.scheme import OutOfRange, Shape, Where
from extrap.schemes.learned import Learned, read

P = torch.tensor([[1.0], [2.0], [4.0]], dtype=torch.float64)
SHAPE = Shape(8, 2, layers=2, length=16)


def rows(t, policy: str, table: torch.Tensor = P) -> torch.Tensor:
    return read(table, torch.as_tensor(t, dtype=torch.float64), policy)[:, 0]


def close(a: torch.Tensor, b, tolerance: float = 1e-12) -> None:
    torch.testing.assert_close(a, torch.as_tensor(b, dtype=a.dtype), atol=tolerance, rtol=0)


def gpt(**options) -> GPT:
    torch.manual_seed(0)
    return GPT(Learned(SHAPE, **options), 20, Decoder(8, 2, 2)).double()


def test_is_a_lookup_added_to_the_token():
    scheme, x = Learned(SHAPE), torch.randn(3, 16, 8)
    at = Where.whole(torch.arange(16.0).double(), 1.0)
    assert torch.equal(scheme.embed(x, at), x + F.embedding(torch.arange(16), scheme.table[0]))
    assert scheme.embed(x, at.at_layer(1, x)) is x


def test_every_layer_has_a_table_of_its_own():
    scheme, x = Learned(SHAPE, layers="every"), torch.randn(3, 16, 8)
    assert scheme.table.shape == (2, 16, 8)
    for layer in range(2):
        at = Where.whole(torch.arange(16.0).double(), 1.0, layer=layer)
        assert torch.equal(scheme.embed(x, at), x + scheme.table[layer])


def test_starts_as_large_as_the_tokens_ask_for():
    assert 0.68 < Learned(Shape(64, 1, length=512)).table.std().item() < 0.72


@settings(max_examples=15, deadline=None)
@given(t=st.floats(0, 14.999))
def test_fractional_coordinates_are_read_linearly(t):
    table = torch.randn(16, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for policy in ("raise", "clamp", "interpolate", "hierarchical"):
        value = read(table, torch.tensor([t], dtype=torch.float64), policy)[0]
        close(value, (1 - t % 1) * table[int(t)] + t % 1 * table[int(t) + 1])


def test_clamp_repeats_the_last_row():
    close(rows([0, 1, 2, 3, 1000], "clamp"), [1, 2, 4, 4, 4])


def test_interpolate_squeezes_a_longer_text_and_leaves_a_shorter_one():
    close(rows([0, 1, 2, 3, 4], "interpolate"), [1, 1.5, 2, 3, 4])
    close(rows([0, 1], "interpolate"), [1, 2])
    close(rows([0], "interpolate", P[:1]), [1])


@pytest.mark.parametrize("T", [17, 40, 160])
def test_interpolate_against_the_formula(T):
    table = torch.randn(16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    expected = []
    for i in range(T):
        at = i * 15 / (T - 1)
        low = min(int(at), 14)
        expected.append(float(table[low] + (at - low) * (table[low + 1] - table[low])))
    close(rows(range(T), "interpolate", table[:, None]), expected)
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
    model = gpt(policy=policy)
    assert model.scheme.limit == longest
    assert model(torch.zeros(1, longest, dtype=torch.long)).isfinite().all()
    with pytest.raises(OutOfRange, match=f"position {longest} lies past the {longest} positions"):
        model(torch.zeros(1, longest + 1, dtype=torch.long))


@pytest.mark.parametrize(
    ("policy", "consistent"), [("clamp", True), ("hierarchical", True), ("interpolate", False)]
)
@torch.no_grad()
def test_which_policies_keep_a_prefix_past_the_table(policy, consistent):
    model, x = (
        gpt(policy=policy),
        torch.randint(20, (2, 64), generator=torch.Generator().manual_seed(0)),
    )
    assert torch.allclose(model(x)[:, :32], model(x[:, :32]), atol=1e-12) is consistent
    inside = gpt()
    close(model(x[:, :16]), inside(x[:, :16]))


def test_refuses_a_table_shorter_than_training_and_warns_of_a_longer_one():
    with pytest.raises(ValueError, match="rows=15"):
        Learned(SHAPE, rows=15)
    with pytest.warns(UserWarning, match="rows=17.*randomised"):
        assert Learned(SHAPE, rows=17).limit == 17
