"""The last query of a layer: its formulas as loops, schemes that look at places or at contents, and
real models.
"""

from math import exp, inf, sqrt

import numpy as np
import pytest
import torch

from extrap.model.inspection import InspectedModel
from extrap.model.scheme import Scheme, Shape, place
from extrap.tasks.diagnosis.last_query import LastQuery, contrast, exchanged, follows, margin, mass
from tests.support.discover import gpt

L = 16


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_margin_and_mass_are_what_loops_say():
    s = drawn(3, 2, 9)
    own = torch.zeros(3, 9, dtype=torch.bool)
    for b, places in enumerate(((0, 1), (4, 5), (7, 8))):
        own[b, list(places)] = True
        for h in range(2):
            mine = [s[b, h, j].item() for j in range(9) if own[b, j]]
            others = [s[b, h, j].item() for j in range(9) if not own[b, j]]
            assert margin(s, own)[b, h] == pytest.approx(max(mine) - max(others))
            total = sum(exp(x) for x in mine + others)
            share = sum(exp(x) / total for x in mine)
            assert mass(s.softmax(-1), own)[b, h] == pytest.approx(share)
            least = 1 / (1 + 7 * exp(max(others) - max(mine)))
            assert share >= least
    hidden = s.masked_fill(own[:, None], -inf)
    assert (margin(hidden, own) == -inf).all()


def cosine(v: list[float], w: list[float]) -> float:
    product = sum(a * b for a, b in zip(v, w, strict=True))
    return product / sqrt(sum(a * a for a in v)) / sqrt(sum(b * b for b in w))


def test_the_two_cosines_of_an_exchange():
    before, after = drawn(2, 3, 7).softmax(-1), drawn(2, 3, 7, seed=1).softmax(-1)
    i, j = torch.tensor([[0, 1, 2], [3, 4, 5]]), torch.tensor([[6, 6, 6], [0, 1, 2]])
    stayed, moved = follows(before, after, i, j)
    for b in range(2):
        for h in range(3):
            x, y = i[b, h].item(), j[b, h].item()
            was, now = ([a[b, h, x].item(), a[b, h, y].item()] for a in (before, after))
            assert stayed[b, h] == pytest.approx(cosine(now, was))
            assert moved[b, h] == pytest.approx(cosine(now, was[::-1]))
    nothing = follows(before, 0 * after, i, j)
    assert all((one == 0).all() for one in nothing)


class Places(Scheme):
    """Logits are a bias of the distance, which is -1 a token."""

    def score(self, q, k, at):
        return super().score(q, k, at) * 0

    def distance_bias(self, d, layer):
        return -d.expand(self.shape.heads, *d.shape)


def last_query(scheme: Scheme, tokens: int = 12, seed: int = 0) -> LastQuery:
    """Random queries, keys and values of two texts."""
    H, D = scheme.shape.heads, scheme.shape.head_dim
    q, k, v = (drawn(2, H, tokens, D, seed=seed + n) for n in range(3))
    at = place(scheme, torch.arange(tokens, dtype=torch.float64))
    return LastQuery(scheme, q, k, v, at.at_layer(0, drawn(2, tokens, scheme.shape.dim)))


SHAPE = Shape(16, 2, length=L)


@pytest.mark.parametrize("scheme, role", [(Places(SHAPE), 0), (Scheme(SHAPE), 1)])
def test_a_head_of_places_is_positional_and_a_head_of_contents_symbolic(scheme, role):
    """The other score is 2 a_i a_j / (a_i^2 + a_j^2), the cosine of a pair and its reverse."""
    query = last_query(scheme)
    found = query.roles(11)
    a = query.weights()
    for b in range(2):
        for h in range(2):
            i = int(a[b, h].argmax())
            others = [a[b, h, j].item() for j in range(12) if j != i]
            pairs = [cosine([a[b, h, i].item(), x], [x, a[b, h, i].item()]) for x in others]
            assert found[role][b, h] == pytest.approx(1)
            assert found[1 - role][b, h] == pytest.approx(sum(pairs) / len(pairs))


def test_uniform_attention_is_both_and_one_key_is_neither():
    query = last_query(Places(SHAPE))
    flat = LastQuery(Scheme(SHAPE), 0 * query.q, query.k, query.v, query.at)
    for score in flat.roles(4):
        torch.testing.assert_close(score, torch.ones_like(score))
    assert last_query(Scheme(SHAPE), tokens=1).roles(4) is None


@pytest.mark.parametrize("name", ["rope", "alibi", "window"])
def test_roles_are_what_a_loop_over_whole_attention_says(name):
    """Every exchange by a definition of its own: keys exchanged one by one, all rows computed."""
    model = gpt(name)
    query = last_query(model.scheme, tokens=10)
    before = query.weights()
    seen = [j for j in range(10) if before[0, 0, j] > 0]
    positional, symbolic = query.roles(len(seen) - 1)
    for b in range(2):
        for h in range(query.q.shape[1]):
            i = int(before[b, h].argmax())
            found = []
            for j in seen:
                if j == i:
                    continue
                k = query.k.clone()
                k[b, h, i], k[b, h, j] = query.k[b, h, j], query.k[b, h, i]
                rows = LastQuery(model.scheme, query.q, k, query.v, query.at).weights()
                was, now = ([a[b, h, i].item(), a[b, h, j].item()] for a in (before, rows))
                found.append((cosine(now, was), cosine(now, was[::-1])))
            assert positional[b, h] == pytest.approx(np.mean([one for one, _ in found]))
            assert symbolic[b, h] == pytest.approx(np.mean([other for _, other in found]))


@pytest.mark.parametrize("name", ["rope", "t5", "rope-gate", "delta-rule", "vo-rope"])
@torch.no_grad()
def test_locos_is_what_a_loop_over_tokens_says(name):
    """A token's contribution: the output with the weights of all other tokens 0, through the output
    matrix of its head, along the row of the answer in the output embedding.
    """
    model = gpt(name)
    tokens = torch.randint(50, (2, 9), generator=torch.Generator().manual_seed(1))
    targets = torch.tensor([3, 41])
    own = torch.zeros(2, 9, dtype=torch.bool)
    own[0, [2, 3]] = own[1, [5, 6]] = True
    inside = InspectedModel(model, model, lambda _: model)
    for layer, given in inside.projected(tokens).items():
        query = LastQuery(model.scheme, *given)
        scheme, row = query.scheme, query.row
        mine, others = query.written(own)
        found = contrast(mine, others, inside.towards(targets, layer), own)
        out = model.blocks[layer].out.weight
        D = model.scheme.shape.head_dim
        for b, h in np.ndindex(2, query.q.shape[1]):
            row_of_answer = (model.head or model.embedding).weight[targets[b]]
            row_of_answer = row_of_answer * (model.head_scale or 1)
            phi = []
            for j in range(9):
                alone = torch.zeros_like(query.weights())
                alone[..., j] = query.weights()[..., j]
                alone = alone[..., None, :]
                o = alone @ query.v if query.owned else scheme.mix(alone, query.v, row)
                o = scheme.gate(o, row)[b, h, 0]
                phi.append((row_of_answer @ out[:, h * D : (h + 1) * D] @ o).item())
            of_own = sum(p for p, mark in zip(phi, own[b], strict=True) if mark)
            of_others = sum(p for p, mark in zip(phi, own[b], strict=True) if not mark)
            assert found[b, h] == pytest.approx(of_own - 2 / 7 * of_others)


@pytest.mark.parametrize("name", ["rope", "rope-gate", "vo-rope", "rope-asentmax"])
@torch.no_grad()
def test_what_heads_write_is_what_is_missing_without_them(name):
    model = gpt(name)
    tokens = torch.randint(50, (2, 9), generator=torch.Generator().manual_seed(1))
    inside = InspectedModel(model, model, lambda _: model)
    outputs = []
    out = model.blocks[0].out
    out.register_forward_hook(lambda module, given, output: outputs.append(output[:, -1]))
    inside(tokens, last=9)
    inside.silenced(tokens, {(0, 1)}, last=9)
    target = torch.tensor([3, 41])
    query = LastQuery(model.scheme, *inside.projected(tokens)[0])
    mine, others = query.written(torch.arange(9).expand(2, -1) == 4)
    written = ((mine + others) * inside.towards(target, 0))[:, 1].sum(-1)
    row_of_answer = (model.head or model.embedding).weight[target] * (model.head_scale or 1)
    torch.testing.assert_close(written, ((outputs[0] - outputs[1]) * row_of_answer).sum(-1))


def test_what_a_scheme_adds_whatever_the_weights_belongs_to_no_token():
    class Adds(Scheme):
        def mix(self, a, v, at):
            return a @ v + 1

    plain = last_query(Scheme(SHAPE)).written(torch.arange(12).expand(2, -1) == 4)
    added = last_query(Adds(SHAPE)).written(torch.arange(12).expand(2, -1) == 4)
    torch.testing.assert_close(added, plain)


def test_outputs_of_length_1_do_not_add_up():
    model = gpt("polar")
    tokens = torch.randint(50, (2, 9), generator=torch.Generator().manual_seed(1))
    given = InspectedModel(model, model, lambda _: model).projected(tokens)[0]
    assert LastQuery(model.scheme, *given).written(torch.arange(9).expand(2, -1) == 4) is None


def test_keys_are_exchanged_in_the_head_that_asks():
    k = drawn(1, 2, 5, 3)
    found = exchanged(k, torch.tensor([[0, 2]]), torch.tensor([[4, 3]]))
    for h, order in enumerate(([4, 1, 2, 3, 0], [0, 1, 3, 2, 4])):
        assert torch.equal(found[0, h], k[0, h, order])


KINDS = ["rope", "alibi", "window", "rope-asentmax", "selective-rope", "forgetting", "delta-rule"]
KINDS += ["vo-rope", "rope-gate", "deberta", "cope", "polar", "sink-logit", "transformer-xl"]


@pytest.mark.parametrize("name", KINDS)
def test_the_last_query_is_the_last_row_of_attention(name):
    model = gpt(name)
    tokens = torch.randint(50, (2, 12), generator=torch.Generator().manual_seed(0))
    inside = InspectedModel(model, model, lambda _: model)
    whole = inside.attention(tokens)[..., -1, :]
    for layer, given in inside.projected(tokens).items():
        query = LastQuery(model.scheme, *given)
        torch.testing.assert_close(query.shares(), whole[layer])
        assert query.owned == (name == "delta-rule")
