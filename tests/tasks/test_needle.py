"""What heads do with the record asked for: formulas as loops, heads made by hand that look at
places or at contents, and the last query of real models.
"""

from math import exp, inf, sqrt

import numpy as np
import pytest
import torch

from extrap.data.trials.base import Trials
from extrap.model.inspection import InspectedModel
from extrap.model.scheme import Scheme, Shape, place
from extrap.tasks.diagnosis.inputs import with_record
from extrap.tasks.diagnosis.last_query import LastQuery, exchanged, follows, margin, mass
from extrap.tasks.needle import Needle
from extrap.tasks.sinks import FORMS
from tests.support.discover import gpt
from tests.support.hand import VOCABULARY as V
from tests.support.hand import Texts, cells, measure, speak

L = 16
TEXT = Texts([32 + np.arange(4000) % 26])


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


@pytest.mark.parametrize("form", ["records", "padded", "alias"])
def test_the_two_tokens_of_the_record_are_the_tokens_asked_for(form):
    asked = with_record(FORMS[form], Trials(V, TEXT.stream("validation"), 32, range(9)))
    assert (asked.own.sum(1) == 2).all()
    for tokens, target, own in zip(*asked, strict=True):
        key, value = tokens[own]
        assert value == target
        assert key in V.key_ids and (form == "alias" or key == tokens[-1])


SCALE = 4.0


class Hand:
    """One layer of two heads, NoPE. Keys of head 0 are the tokens in front, so that its last query
    finds the value asked for, at a logit of SCALE; head 1 looks at everything alike.
    """

    scheme = Scheme(Shape(2 * V.size, 2, length=L))

    def __init__(self, learned: bool = True):
        self.learned = learned

    def __call__(self, tokens, last):
        found = (tokens[:, :-1] == tokens[:, -1:]).double().argmax(1) + 1
        said = tokens.gather(1, found[:, None])[:, 0]
        return speak(said if self.learned else torch.full((len(tokens),), V.bos))

    def projected(self, tokens):
        B, T = tokens.shape
        one = torch.nn.functional.one_hot(tokens, V.size).double()
        q, k = torch.zeros(2, B, 2, T, V.size, dtype=torch.float64)
        q[:, 0] = SCALE / self.scheme.scale * one
        k[:, 0, 1:] = one[:, :-1]
        at = place(self.scheme, torch.arange(T, dtype=torch.float64))
        return {0: (q, k, one[:, None].expand(-1, 2, -1, -1), at.at_layer(0, one))}


def task(**options) -> Needle:
    return Needle(**{"multiples": (1, 2), "inputs": 8, "swaps": 4} | options)


def test_rows_of_heads_and_of_the_head_that_finds_the_record():
    result = measure(task(), Hand(), TEXT, L)
    assert {row["status"] for row in result.rows} == {"ok"}
    expected = {
        "margin": lambda n: (SCALE, 0.0),
        "mass": lambda n: ((exp(SCALE) + 1) / (exp(SCALE) + n - 1), 2 / n),
    }
    for metric, of in expected.items():
        of_heads = cells(result, metric, "head", "length")
        best = {row["length"]: row["value"] for row in result.rows
                if row["metric"] == metric and "head" not in row}  # fmt: skip
        for n in (L, 2 * L):
            assert of_heads[0, n] == pytest.approx(of(n)[0])
            assert of_heads[1, n] == pytest.approx(of(n)[1])
            assert best[n] == pytest.approx(of(n)[0])
    assert cells(result, "symbolic", "head", "length")[0, L] == pytest.approx(1)
    assert cells(result, "positional", "head", "length")[0, L] < 0.2
    assert cells(result, "positional", "head", "length")[1, L] == pytest.approx(1)
    assert cells(result, "accuracy", "length") == {(L,): 1.0, (2 * L,): 1.0}
    diluted = cells(result, "mass", "head", "length")
    assert diluted[0, 2 * L] < diluted[0, L] < 1


def test_who_does_not_find_records_is_marked():
    assert {row["status"] for row in measure(task(), Hand(False), TEXT, L).rows} == {"not trained"}


def test_a_hidden_record_has_no_margin_and_no_mass():
    class Blind(Hand):
        """Sees the last two tokens alone."""

        def projected(self, tokens):
            q, k, v, at = super().projected(tokens)[0]
            seen = place(Near(self.scheme.shape), at.k)
            return {0: (q, k, v, seen.at_layer(0, at.x))}

    class Near(Scheme):
        def sees(self, at):
            return at.back < 2

    Blind.scheme = Near(Hand.scheme.shape)
    result = measure(task(inputs=4), Blind(), TEXT, L)
    assert not cells(result, "margin", "head")
    assert min(cells(result, "mass", "head", "length").values()) < 0.5
    assert all(np.isfinite(row["value"]) for row in result.rows)


def test_weights_that_are_no_numbers_are_diverged():
    class Lost(Hand):
        def projected(self, tokens):
            lost = torch.nan if tokens.shape[1] > L else 1.0
            q, *others = super().projected(tokens)[0]
            return {0: (q * lost, *others)}

    for row in measure(task(), Lost(), TEXT, L).rows:
        lost = row["length"] > L and row["metric"] != "accuracy"
        assert (row["value"] != row["value"], row["status"]) == (lost, "diverged" if lost else "ok")


@pytest.mark.parametrize("name", ["rope", "delta-rule", "window", "polar"])
def test_rows_of_a_real_model_are_finite(name):
    model = gpt(name, length=L, vocab=V.size)
    inside = InspectedModel(model, model, lambda _: model)
    rows = measure(task(multiples=(1,), ask=("records", "alias")), inside, TEXT, L).rows
    assert all(np.isfinite(row["value"]) for row in rows)
    metrics = {row["metric"] for row in rows}
    assert metrics >= {"mass", "accuracy", "gate"}
    assert ("margin" in metrics) == ("symbolic" in metrics) == (name != "delta-rule")
    keys = [tuple(row.get(k) for k in ("protocol", "metric", "layer", "head")) for row in rows]
    assert len(set(keys)) == len(keys)
