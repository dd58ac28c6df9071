"""Measures of attention and gradients against numbers known by hand."""

import math

import pytest
import torch

from extrap.extensions.interpolation import Interpolation
from extrap.model.scheme import Shape
from extrap.tasks.diagnosis import attention_stats as measures
from extrap.tasks.diagnosis.measure_scheme import measure_scheme
from extrap.tasks.scoring.recorder import Recorder
from tests.support.discover import gpt, made, node, scheme


def row(*logits: float) -> torch.Tensor:
    return torch.tensor(logits, dtype=torch.float64).softmax(-1)


def test_entropy_of_known_rows():
    a = row(3, 0, 0, 0, 0, 2)
    assert measures.entropy(a[None])[0] == pytest.approx(-sum(p * math.log(p) for p in a.tolist()))
    rest = torch.tensor([[0.25, 0.25]])  # half went to a sink
    assert measures.entropy(rest)[0] == pytest.approx(1.5 * math.log(2))
    assert measures.entropy(torch.tensor([[1.0, 0.0]]))[0] == 0
    uniform = torch.ones(16, 16).tril() / torch.arange(1, 17)[:, None]
    torch.testing.assert_close(
        measures.relative_entropy(uniform, torch.tensor([2, 4, 16])), torch.ones(3)
    )


def test_a_u_is_its_ends_over_its_middle():
    profile = torch.tensor([0.4, 0.1] + [0.05] * 6 + [0.1, 0.1])
    found = measures.ends(profile)
    assert found["u"] == pytest.approx(4)
    assert (found["primacy"], found["recency"]) == (pytest.approx(6.4), pytest.approx(1.6))
    assert measures.ends(torch.ones(30))["u"] == pytest.approx(1)


def test_rollout_is_the_product_of_half_attention_half_residual():
    a = torch.rand(3, 2, 4, 5, 5, dtype=torch.float64).tril()
    a = a / a.sum(-1, keepdim=True)
    for b in range(2):
        product = torch.eye(5, dtype=torch.float64)
        for layer in range(3):
            product = (a[layer, b].mean(0) + torch.eye(5)) / 2 @ product
        torch.testing.assert_close(measures.rollout(a)[b], product[-1])
    nowhere = torch.zeros(2, 1, 1, 4, 4)
    nowhere[..., 0] = 1
    assert measures.rollout(nowhere)[0].tolist() == [0.75, 0, 0, 0.25]


def test_cumulated_gradient_and_its_reach():
    norms = torch.tensor([[1.0, 0, 0, 0, 9], [2, 2, 2, 2, 2]])
    torch.testing.assert_close(
        measures.cumulated(norms), torch.tensor([[0.9, 0.9, 0.9, 0.9, 1], [0.2, 0.4, 0.6, 0.8, 1]])
    )
    assert measures.reach(norms, 0.5).tolist() == [0, 2]
    assert measures.reach(norms, 0.9).tolist() == [0, 4]
    assert measures.reach(norms, 0.99).tolist() == [4, 4]


@pytest.mark.parametrize("n, places", [(40, 21), (64, 33), (256, 33), (160, 21)])
def test_of_every_record_that_is_looked_at_both_tokens_are(n, places):
    """Keys in one half and values in the other would look like a step of influence."""
    found = measures.record_places(n, places).tolist()
    assert {0, n - 1} < set(found) and len(found) <= places
    inside = found[1:-1]
    assert inside[::2] == [at for at in inside if at % 2] and len(inside) % 2 == 0
    assert [value - key for key, value in zip(inside[::2], inside[1::2], strict=True)] == [1] * (
        len(inside) // 2
    )


def static(scheme, plain, *lengths):
    recorder = Recorder()
    measure_scheme(recorder, scheme, plain, list(lengths))
    return {(r["metric"], r["length"], r["at"], r.get("head")): r["value"] for r in recorder.rows}


def test_turns_and_the_phases_that_training_covered():
    """d = 32, L = 128: turns of PROTOCOLS; at 4 L a pair that made r < 1/4 turns has seen a quarter
    of the phases it meets.
    """
    rope = scheme("rope", Shape(dim=32, heads=1, length=128))
    found = static(rope, rope, 128, 512)
    turns = [20.37, 11.46, 6.44, 3.62, 2.04, 1.15, 0.64, 0.36, 0.20, 0.11, 0.06]
    assert [found["turns", 128, p, None] for p in range(11)] == pytest.approx(turns, abs=0.006)
    assert {found["coverage", 128, p, None] for p in range(16)} == {1}
    assert found["coverage", 512, 0, None] == 1
    assert found["coverage", 512, 6, None] == pytest.approx(found["turns", 128, 6, None])
    assert found["coverage", 512, 12, None] == pytest.approx(1 / 4)


def test_a_bias_is_that_in_force():
    """Adaptive interpolation divides the distances of 4 L tokens by 4."""
    model = gpt("alibi", length=64)
    extended = made(node("extension", "bias-interpolation"), "extension")(model)
    plain, found = (static(one.scheme, model.scheme, 256) for one in (model, extended))
    assert found["bias", 256, 8, 0] == pytest.approx(plain["bias", 256, 8, 0] / 4)


def test_pairs_that_an_extension_took_away_have_no_turns():
    model = gpt("vo-rope", length=64, heads=4)
    extended = made(node("extension", "ms-poe"), "extension")(model)
    assert not [key for key in static(extended.scheme, model.scheme, 128) if key[0] == "turns"]


def test_an_extension_brings_the_phases_back():
    model = gpt("rope", length=64)
    found = static(Interpolation(4.0)(model).scheme, model.scheme, 256)
    assert {found[key] for key in found if key[0] == "coverage"} == {1}


def test_biases_are_those_of_the_scheme():
    alibi = scheme("alibi", Shape(dim=32, heads=4, length=64))
    found = static(alibi, alibi, 64, 128)
    assert {key[0] for key in found} == {"bias"}
    assert [found["bias", 128, 127, head] for head in range(4)] == [
        -127 * 2 ** (-2 * (h + 1)) for h in range(4)
    ]
    assert found["bias", 128, 0, 3] == 0
    assert not static(scheme("nope", alibi.shape), scheme("nope", alibi.shape), 64)
