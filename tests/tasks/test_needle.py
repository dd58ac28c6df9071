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
from extrap.tasks.diagnosis.last_query import LastQuery, contrast, exchanged, follows, margin, mass
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

    def silenced(self, tokens, heads, last):
        mute = speak(torch.full((len(tokens),), V.bos))
        return mute if (0, 0) in heads else self(tokens, last)

    def towards(self, targets, layer):
        """Head 0 writes tokens as they are, head 1 what counts against the answer."""
        one = torch.nn.functional.one_hot(targets, V.size).double()
        return torch.stack([one, -one], 1)

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
        rows = [row for row in result.rows if row["metric"] == metric and "head" not in row]
        best = {row["length"]: row["value"] for row in rows}
        for n in (L, 2 * L):
            assert of_heads[0, n] == pytest.approx(of(n)[0])
            assert of_heads[1, n] == pytest.approx(of(n)[1])
            assert best[n] == pytest.approx(of(n)[0])
    assert cells(result, "symbolic", "head", "length")[0, L] == pytest.approx(1)
    assert cells(result, "positional", "head", "length")[0, L] < 0.2
    assert cells(result, "positional", "head", "length")[1, L] == pytest.approx(1)
    accuracy = cells(result, "accuracy", "protocol", "length")
    expected = {"records": 1.0, "records-mass_1": 0.0, "records-locos_1": 0.0}
    assert accuracy == {(form, n): a for form, a in expected.items() for n in (L, 2 * L)}
    diluted = cells(result, "mass", "head", "length")
    assert diluted[0, 2 * L] < diluted[0, L] < 1


def test_locos_counts_what_is_written_of_the_record_in_right_answers():
    """A head that writes the tokens that it sees: of the record the answer, of the others its
    repeats; by hand, over the questions answered.
    """

    class Half(Hand):
        """Answers every second question."""

        def __call__(self, tokens, last):
            right = super().__call__(tokens, last)
            right[1::2] = speak(torch.full((len(tokens),), V.bos))[1::2]
            return right

    result = measure(task(multiples=(1,)), Half(), TEXT, L)
    asked = with_record(FORMS["records"], Trials(V, TEXT.stream("validation"), L, range(8)))
    scores = []
    for row, target, own in zip(*asked, strict=True):
        place_of = own.nonzero()[1, 0].item()
        logits = [SCALE if j == place_of else 0.0 for j in range(L)]
        total = sum(map(exp, logits))
        phi = [
            exp(s) / total * (token == target).item() for s, token in zip(logits, row, strict=True)
        ]
        of_own = sum(p for p, mark in zip(phi, own, strict=True) if mark)
        scores.append(of_own - 2 / (L - 2) * (sum(phi) - of_own))
    found = [row for row in result.rows if row["metric"] == "locos"]
    assert [row["n"] for row in found] == [4, 4]
    assert found[0]["value"] == pytest.approx(np.mean(scores[::2]))
    assert found[1]["value"] < 0 < found[0]["value"]


def test_who_answers_nothing_has_no_locos():
    rows = measure(task(), Hand(False), TEXT, L).rows
    assert not [row for row in rows if row["metric"] == "locos" or "locos" in row["protocol"]]


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
