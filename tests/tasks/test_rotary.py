"""Scores of rotary heads: the formulas as loops, numbers of another implementation, known heads,
and queries and keys of a real model.
"""

from cmath import exp
from itertools import pairwise
from math import erfc, sqrt
from statistics import fmean, pstdev

import numpy as np
import pytest
import torch

from extrap.extensions.interpolation import Interpolation
from extrap.model.distance_maps import constant
from extrap.model.inspection import InspectedModel
from extrap.model.scheme import Shape
from extrap.model.stack import InLayers
from extrap.schemes.partial_rope import PartialRoPE
from extrap.schemes.rope import RoPE
from extrap.tasks import rotary
from extrap.tasks.rotary import RotaryScores, scores, turning
from tests.support.discover import gpt, made, node, scheme
from tests.support.hand import Texts, cells, measure

SHAPE = Shape(16, 2, length=16)
THETA = torch.tensor([1.0, 0.3, 0.0]).double()


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(
        *shape, dtype=torch.complex128, generator=torch.Generator().manual_seed(len(shape))
    )


def logit(c, distance: int, rest: float = 0.0) -> float:
    turned = zip(c.tolist(), THETA.tolist(), strict=True)
    return sum((z * exp(1j * theta * distance)).real for z, theta in turned) + rest


@pytest.mark.parametrize("rest", [0.0, 0.7])
def test_the_papers_scores(rest):
    c = drawn(5, 3)
    semantic = rotary.semantic(c, torch.full((5,), rest).double(), THETA, 9)
    positional = rotary.positional(c, THETA, 9)
    for one, preferred, moved in zip(c, semantic.tolist(), positional.tolist(), strict=True):
        g = [logit(one, d, rest) for d in range(9)]
        sign = 1 if g[0] > 0 else -1
        assert preferred == pytest.approx(1 - erfc(sign * fmean(g) / pstdev(g) / sqrt(2)) / 2)
        steps = [abs(b - a) for a, b in pairwise(g)]
        norm = sqrt(sum(abs(z) ** 2 for z in one.tolist()))
        assert moved == pytest.approx(fmean(steps) / norm)
    assert rotary.semantic(0 * c, torch.zeros(5).double(), THETA, 9).isnan().all()


PARTS = {
    "interleaved": RoPE(SHAPE, 100.0),
    "half": RoPE(SHAPE, 100.0, "half"),
    "partial": PartialRoPE(SHAPE, base=50.0, fraction=0.5),
}
LAYOUTS = {"interleaved": "interleaved", "half": "split_half"}
QUERIES, KEYS, WINDOW = torch.tensor([25, 31]), torch.tensor([3, 17, 9, 0, 22, 14]), 40


def drawn_heads() -> tuple[torch.Tensor, torch.Tensor]:
    return tuple(torch.randn(
        2, 1, 2, 40, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64
    ))  # fmt: skip


def profiled(part) -> tuple[list[float], list[float]]:
    """Returns the scores of rope-profiler: all pairs, neighbours of KEYS, all distances."""
    from rope_profiler.scores import score_activations

    (q, k), theta = (x[0] for x in drawn_heads()), part.spectrum(WINDOW)
    pairs = [(i, j) for i in QUERIES.tolist() for j in KEYS.tolist()]
    triplets = [(i, a, b) for i in QUERIES.tolist() for a, b in KEYS.view(-1, 2).tolist()]
    how = {"layout": LAYOUTS[part.layout], "rotary_dim": 2 * len(theta), "distance_samples": None}
    found = score_activations(q, k, [0, 1], pairs, triplets, theta, WINDOW, **how)
    return found.semantic_by_head.tolist(), found.positional_by_head.tolist()


@pytest.mark.parametrize("name", PARTS)
def test_equals_rope_profiler(name):
    """The package of the paper's authors on PyPI."""
    pytest.importorskip("rope_profiler", reason="pip install rope-profiler")
    (q, k), part = drawn_heads(), PARTS[name]
    found = scores(q, k, part, part.spectrum(WINDOW), QUERIES, KEYS)
    semantic, positional = profiled(part)
    assert found["semantic"][0].tolist() == pytest.approx(semantic, abs=1e-9)
    assert found["positional"][0].tolist() == pytest.approx(positional, abs=1e-9)


def test_the_band_is_where_queries_and_keys_are_long():
    q, k = torch.ones(2, 4, 3) + 0j, torch.ones(2, 4, 3) + 0j
    q[0, :, 1], k[1, :, 0], q[1, :, 2] = 3, 5, 4
    assert rotary.band(q, k, THETA).tolist() == pytest.approx([0.3, 1.0])


@pytest.mark.parametrize("name", ["rope", "keynorm-rope", "rope-gate", "alibi"])
@torch.no_grad()
def test_unturned_queries_and_keys_give_the_logits_once_they_are_turned(name):
    model = gpt(name)
    tokens = torch.randint(50, (2, 12), generator=torch.Generator().manual_seed(0))
    inside = InspectedModel(model, model, lambda _: model)
    q, k = inside.rotated(tokens, turn=False)[1]
    a = inside.attention(tokens)[1]
    if name == "alibi":
        assert q.shape == k.shape == (2, 4, 12, 8)
        return
    place = model.where(tokens).at_layer(1, None)
    turner = turning(model.scheme, 1)
    assert turner is not None
    turned_q, turned_k = turner.rotate(q, k, place)
    turned = turned_q @ turned_k.mT * model.scheme.scale
    after = torch.ones(12, 12, dtype=torch.bool).triu(1)
    weights = turned.masked_fill(after, -torch.inf).softmax(-1)
    if name != "keynorm-rope":
        torch.testing.assert_close(weights, a)
    else:
        assert k.norm(dim=-1).std() < 1e-9


@pytest.mark.parametrize(
    "name, layers",
    [
        *(("rope", {0, 1, 2, 3}), ("rnope-swa", {0, 1, 2}), ("alibi", set()), ("xpos", set())),
        *(("multi-axis-rope", set()), ("vo-rope", set()), ("linear-rope", set())),
    ],
)
def test_layers_that_turn_pairs_by_frequencies_alone(name, layers):
    s = scheme(name, Shape(dim=32, heads=4, layers=4, length=64, vocab=50))
    assert {layer for layer in range(4) if turning(s, layer)} == layers


TEXT = Texts([np.arange(1000) % 50])
WORDS = type("Vocabulary", (), {"bos": 0})()
FEW = {"contents": ("text",), "multiples": (1, 2), "inputs": 3, "keys": 5, "queries": 2}


def inside_of(model, extension: str = "direct") -> InspectedModel:
    if extension != "direct":
        model = made(node("extension", extension), "extension")(model)
    return InspectedModel(model, model, gpt)


def measured(inside: InspectedModel) -> dict[str, dict]:
    """{metric: {(length, layer, head): value}}."""
    found = measure(RotaryScores(**FEW), inside, TEXT, inside.scheme.shape.length, WORDS)
    return {m: cells(found, m, "length", "layer", "head") for m in ("semantic", "positional")}


MAPS = ["dual-chunk", "leaky-rerope", "lm-infinite", "rerope", "self-extend", "string"]


@pytest.mark.parametrize("name", ["rope", "partial-rope"])
@pytest.mark.parametrize("extension", [*MAPS, "streaming-llm", "ntk-dynamic-row"])
def test_scores_under_a_map_of_distances_are_of_near_tokens(name, extension):
    """The first layer reads what it read before. Its queries and keys for farther tokens are other
    turns of the same channels, and no channels that never turn.
    """
    model = gpt(name)
    plain, mapped = measured(inside_of(model)), measured(inside_of(model, extension))
    for metric in plain:
        assert len(mapped[metric]) == len(plain[metric]) == 2 * 2 * 4
        first = {key: value for key, value in plain[metric].items() if key[1] == 0}
        if extension == "ntk-dynamic-row":
            first = {key: value for key, value in first.items() if key[0] == 64}
        assert {key: mapped[metric][key] for key in first} == pytest.approx(first, abs=1e-12)


def tokens(n: int) -> torch.Tensor:
    return torch.randint(50, (2, n), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("extension", [*MAPS, "streaming-llm"])
def test_no_mean_key_is_near_and_far_at_once(extension):
    assert inside_of(gpt("rope"), extension).clusters(tokens(64)) == {}


def test_layers_without_a_map_keep_their_mean_queries_and_keys():
    model = gpt("rope")
    model.scheme = InLayers(model.scheme, constant(model.scheme, 3), {1})
    assert {*InspectedModel(model, model, gpt).clusters(tokens(64))} == {0}


def test_a_mean_query_and_key_under_frequencies_by_row():
    """Within L the ones of the plain model; past L the ones of a text that ends there."""
    model = gpt("rope")
    plain, by_row, by_text = (
        inside_of(model, name) for name in ("direct", "ntk-dynamic-row", "ntk-dynamic")
    )
    for n, other in ((64, plain), (128, by_text)):
        found, expected = by_row.clusters(tokens(n)), other.clusters(tokens(n))
        torch.testing.assert_close(found[0], expected[0])
        assert (plain.clusters(tokens(n))[0] - found[0]).abs().max() > 1e-3 or n == 64


@pytest.mark.parametrize(
    "name, extension",
    [("randomised-rope", "direct"), ("random-floats", "direct"), ("rope", "parallel-windows")],
)
def test_uneven_coordinates_have_no_frequencies_in_a_text_and_no_rows(name, extension):
    found = measured(inside_of(gpt(name), extension))
    within = {key for metric in found.values() for key in metric}
    assert {length for length, *_ in within} == ({64} if name == "rope" else set())


def test_rows_of_a_model_and_of_an_extension_that_slows_its_pairs():
    model = gpt("rope")
    length = model.scheme.shape.length
    slower = Interpolation(4.0)(model)
    rows = [
        measure(RotaryScores(**FEW), InspectedModel(m, m, gpt), TEXT, length, WORDS)
        for m in (model, slower)
    ]
    bands = [cells(one, "band", "length", "layer", "head") for one in rows]
    assert len(bands[0]) == 2 * 2 * 4
    assert max(bands[1].values()) <= max(bands[0].values()) / 4 + 1e-12
    assert {m for one in rows for m in (row["metric"] for row in one.rows)} == {
        *("semantic", "positional", "band")
    }


def test_pairs_of_a_list_of_channels_may_stand_behind_the_others():
    """As in checkpoints of DeepSeek, whose first channels do not turn."""
    x = torch.arange(12.0)
    pairs, rest = rotary.as_pairs(x, [8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7], 2)
    assert pairs.tolist() == [8 + 9j, 10 + 11j] and rest.tolist() == list(range(8))
