"""Extensions that read what was trained in another way: tables, randomised positions, biases."""

import pytest
import torch

from extrap.extensions.bias_interpolation import BiasInterpolation
from extrap.extensions.learned_table import LearnedTable
from extrap.extensions.randomised_positions import RandomisedTest
from extrap.model.decoder import Decoder
from extrap.model.functional import bucket
from extrap.model.gpt import GPT
from extrap.model.scheme import OutOfRange, Shape, Where
from extrap.model.stack import Only, Stack
from extrap.schemes.alibi import ALiBi
from extrap.schemes.learned import Learned
from extrap.schemes.randomised import RandomisedPositions
from extrap.schemes.sinusoidal import Sinusoidal
from extrap.schemes.window import Window
from extrap.utils.errors import NotApplicable
from tests.support import discover
from tests.support.scheme_case import close

SHAPE = Shape(dim=32, heads=4, layers=2, length=64, vocab=50)


def text(T: int) -> torch.Tensor:
    return torch.randint(50, (2, T), generator=torch.Generator().manual_seed(3))


def row(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


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


def test_published_rows_of_the_composed_table():
    table = Learned(Shape(dim=1, heads=1, length=3))
    table.table.data = row(1, 2, 4).view(1, 3, 1).float()
    read = LearnedTable("hierarchical").extend(table)
    t = torch.arange(9, dtype=torch.float64)
    found = read.embed(torch.zeros(1, 9, 1), Where.whole(t, 1.0))[0, :, 0]
    close(found.double(), row(1, 2, 4, 5 / 3, 8 / 3, 14 / 3, 3, 4, 6), 1e-6)
    assert read.limit == 9


def test_a_table_inside_a_stack_is_found():
    model = discover.gpt("deberta-absolute")
    assert LearnedTable("clamp")(model)(text(100)).isfinite().all()


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


def test_slopes_of_alibi():
    slopes = row(0.0625, 0.015625, 0.00390625, 0.0009765625)
    close(bias("alibi", 4.0, 100), -slopes[:, None, None] * distances(100), 1e-12)


@pytest.mark.parametrize("name", ["kerple-log", "kerple-power", "sandwich"])
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


@pytest.mark.parametrize("name", ["alibi", "kerple-log", "t5"])
@torch.no_grad()
def test_adaptive_by_default(name):
    model, x = discover.gpt(name), text(128)
    extended = BiasInterpolation()(model)
    close(extended(x[:, :64]), model(x[:, :64]), 0)
    close(extended(x), BiasInterpolation(2.0)(model)(x), 0)
    assert (
        BiasInterpolation().effective(512, 64) == 8 and BiasInterpolation().effective(32, 64) == 1
    )


@pytest.mark.parametrize(
    "extension, name, why",
    [
        (LearnedTable("clamp"), "rope", "LearnedTable on RoPE: it has no learned table"),
        (LearnedTable("clamp"), "learned-clamp", "policy=clamp already"),
        (RandomisedTest("stride"), "rope", "not trained on randomised positions"),
        (RandomisedTest("even"), "randomised-rope", "test=even already"),
        (RandomisedTest("stride", longest=7), "randomised-rope", "longest=7"),
        (BiasInterpolation(), "nope", "BiasInterpolation on NoPE: it has no bias"),
        (BiasInterpolation(), "rope", "it has no bias"),
        (BiasInterpolation(), "cope", "it has no bias"),
    ],
)
def test_refused(extension, name, why):
    with pytest.raises(NotApplicable, match=why):
        extension(discover.gpt(name))


def test_a_factor_below_one_is_refused():
    with pytest.raises(ValueError, match=r"factor=0\.5"):
        BiasInterpolation(0.5)


@pytest.mark.parametrize("policy", ["interpolate", "hierarchical"])
@torch.no_grad()
def test_a_table_is_read_by_its_policy_whatever_layer_zero_sees(policy):
    """Positions are added in front of layer 0, be it a window or not."""
    shape, x = Shape(16, 2, 2, 32, 50), text(96)
    first, second = (
        GPT(
            Stack(shape, [Learned(shape), Only(shape, Window(shape, 16), [n])]),
            50,
            Decoder(16, 2, 2),
        )
        for n in (0, 1)
    )
    for model in (first.double().eval(), second.double().eval()):
        clamped = LearnedTable("clamp")(model)(x)
        assert not torch.allclose(LearnedTable(policy)(model)(x), clamped, atol=1e-6)


def test_a_bias_is_interpolated_alone_or_not_at_all():
    for name in ("t5-urpe", "tupe-a", "rope"):
        model = discover.gpt(name)
        with pytest.raises(NotApplicable):
            BiasInterpolation(4.0)(model)
    shape = Shape(32, 4, 2, 64, 50)
    both = Stack(shape, [Sinusoidal(shape), ALiBi(shape)])
    with pytest.raises(NotApplicable, match="Sinusoidal reads the same coordinates"):
        BiasInterpolation(4.0)(GPT(both, 50, Decoder(32, 2, 4)).double().eval())


def test_a_length_of_a_stride_is_for_a_stride():
    with pytest.raises(ValueError, match="longest=128: says how far a stride reaches"):
        RandomisedTest("sampled", 128)
