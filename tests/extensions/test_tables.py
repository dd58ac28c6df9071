"""Extensions that read what was trained in another way: tables, randomised positions, biases."""

import pytest
import torch

from extrap.extensions.bias_interpolation import BiasInterpolation
from extrap.extensions.learned_table import LearnedTable
from extrap.extensions.randomised_positions import RandomisedTest
from extrap.model.functional import bucket
from extrap.model.scheme import OutOfRange, Shape, Where
from extrap.model.stack import Only, Stack
from extrap.schemes.learned import Learned
from extrap.schemes.randomised import RandomisedPositions
from extrap.schemes.window import Window
from tests.support import discover
from tests.support.scheme_case import around, close, text

SHAPE = Shape(dim=32, heads=4, layers=2, length=64, vocab=50)


@pytest.mark.parametrize("policy", ["clamp", "interpolate", "hierarchical"])
@torch.no_grad()
def test_a_table_reads_as_a_scheme_of_that_policy_with_the_same_weights(policy):
    model, x = discover.gpt("learned"), text(150)
    twin = discover.gpt(f"learned-{policy}")
    twin.load_state_dict(model.state_dict())
    extended = LearnedTable(policy)(model)
    close(extended(x), twin(x), 0)
    close(extended(x[:, :64]), model(x[:, :64]))
    with pytest.raises(OutOfRange):
        model(x)


@pytest.mark.parametrize("test", ["stride", "sampled"])
@torch.no_grad()
def test_positions_of_a_randomised_model(test):
    model, x = discover.gpt("randomised-rope"), text(100)
    extended = RandomisedTest(test)(model)
    positions = extended.scheme.positions(torch.arange(100.0).double())
    assert torch.equal(
        positions,
        RandomisedPositions(SHAPE, None, test).eval().positions(torch.arange(100.0).double()),
    )
    assert not torch.equal(positions, model.scheme.positions(torch.arange(100.0).double()))
    assert torch.equal(extended(x), extended(x))
    close(extended(x[:, :70]), extended(x)[:, :70]) if test == "stride" else None


def bias(name: str, factor: float | None, T: int) -> torch.Tensor:
    """(H, T, T) of the extended scheme, as its kernel would see it."""
    scheme = BiasInterpolation(factor).extend(discover.gpt(name).scheme)
    at = Where.whole(scheme.positions(torch.arange(T, dtype=torch.float64)), scheme.scale)
    assert at.spacing is not None
    return scheme.distance_bias(at.distance, 0).detach()


def distances(T: int) -> torch.Tensor:
    t = torch.arange(T, dtype=torch.float64)
    return (t[:, None] - t).clamp(min=0)


@pytest.mark.parametrize("name", ["alibi", "kerple-log", "kerple-power", "sandwich"])
def test_real_distances_are_divided(name):
    close(
        bias(name, 4.0, 100),
        discover.gpt(name).scheme.distance_bias(distances(100) / 4, 0).detach(),
        1e-12,
    )


@pytest.mark.parametrize("factor", [2.0, 3.0, 7.0])
def test_buckets_of_t5_are_those_of_whole_distances(factor):
    table = discover.gpt("t5").scheme.table.detach()
    n = distances(200).long() // int(factor)
    close(bias("t5", factor, 200), table[bucket(n, 32, 32)].movedim(-1, 0), 0)


@pytest.mark.parametrize("policy", ["interpolate", "hierarchical"])
@torch.no_grad()
def test_a_table_is_read_by_its_policy_whatever_layer_zero_sees(policy):
    """Positions are added in front of layer 0, be it a window or not."""
    shape, x = Shape(16, 2, 2, 32, 50), text(96)
    first, second = (
        around(Stack(shape, [Learned(shape), Only(shape, Window(shape, 16), [n])])) for n in (0, 1)
    )
    for model in (first, second):
        clamped = LearnedTable("clamp")(model)(x)
        assert not torch.allclose(LearnedTable(policy)(model)(x), clamped, atol=1e-6)
