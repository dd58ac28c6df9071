"""Losses of what lies far behind: after a jump of coordinates, over long texts, and untrained."""

import numpy as np
import pytest
import torch
import yaml
from torch.nn import functional as F

from extrap.model.inspection import InspectedModel
from extrap.model.scheme import Where
from extrap.runs import train as stage
from extrap.tasks.gap import Gap
from extrap.tasks.long_loss import LongLoss, matched
from tests.support.discover import CONF, gpt, made, node
from tests.support.hand import VOCABULARY, Texts, measure, values
from tests.support.jobs import job

L, N = 16, 4
TEXTS = Texts(np.random.default_rng(0).integers(30, size=(5, 2 * N)))
TASK = Gap(multiples=(0.5, 1, 3), share=0.25, documents=5, batch_tokens=16)


class Words:
    """Ids of the small models of tests, which have 50."""

    bos = 49


def found(name, extension="direct", **options):
    model = gpt(name, length=L, **options)
    if extension != "direct":
        model = made(node("extension", extension), "extension")(model)
    inside = InspectedModel(model, model, lambda layers: model)
    return model, measure(TASK, inside, TEXTS, L, Words())


def by_hand(model, coordinates, tokens, targets):
    """Mean loss of the last N targets with every token at a given coordinate."""
    t = torch.as_tensor(coordinates, dtype=torch.float64)
    sees = model.scheme.sees if model.scheme.uses("sees") else None
    model.where = lambda tokens: Where.whole(
        model.scheme.positions(t), model.scheme.scale, tokens=tokens, sees=sees
    )
    with torch.no_grad():
        logits = model(tokens)[:, -N:]
    del model.where
    return float(F.cross_entropy(logits.flatten(0, 1), targets[:, -N:].flatten()))


@pytest.mark.parametrize("name", ["rope", "alibi", "kerple-log", "sinusoidal", "rope-logn", "nope"])
def test_losses_at_written_coordinates(name):
    model, result = found(name)
    text = torch.from_numpy(np.stack(TEXTS.all).astype(np.int64))
    tokens = torch.cat([torch.full((5, 1), 49), text[:, :-1]], 1)
    nll = values(result, "nll")
    first = [0, 1, 2, 3]
    for length in (8, 16, 48):
        expected = by_hand(model, first + [length + i for i in range(N)], tokens, text)
        assert nll["jump", length] == pytest.approx(expected, abs=1e-9)
    plain = by_hand(model, range(2 * N), tokens, text)
    assert nll["none", N] == pytest.approx(plain, abs=1e-9)
    half = torch.cat([torch.full((5, 1), 49), text[:, N:-1]], 1)
    alone = by_hand(model, range(N), half, text)
    assert nll["alone", N] == pytest.approx(alone, abs=1e-9)
    change = values(result, "change")
    assert change["jump", 48] == pytest.approx(nll["jump", 48] - plain, abs=1e-9)
    assert change["alone", N] == pytest.approx(alone - plain, abs=1e-9)


def test_a_window_does_not_see_across_a_gap_that_is_longer():
    """In the long text the tokens in between would fill it."""
    model = gpt("window", length=L)
    model.scheme.width = 3
    nll = values(measure(TASK, InspectedModel(model, model, None), TEXTS, L, Words()), "nll")
    text = torch.from_numpy(np.stack(TEXTS.all).astype(np.int64))
    with torch.no_grad():
        logits = model(text[:, N - 1 : -1])
    expected = float(F.cross_entropy(logits.flatten(0, 1), text[:, N:].flatten()))
    assert [nll["jump", n] for n in (16, 48)] == pytest.approx([expected] * 2, abs=1e-9)
    assert abs(nll["none", N] - expected) > 1e-6


EXTENDED = {
    "direct": {},
    "dual-chunk": {"window": 2},
    "leaky-rerope": {"width": 5},
    "lm-infinite": {"sinks": 2, "recent": 3},
    "ntk": {},
    "pi": {},
    "self-extend": {"group": 2, "window": 4},
    "streaming-llm": {"sinks": 2, "recent": 3},
    "string": {},
    "window": {"width": 3},
}
SCHEMES = ["alibi", "rope-logn", "sandwich", "shaw", "softmax-1", "transformer-xl", "xpos"]
PAIRS = [("rope", name) for name in EXTENDED] + [(name, "streaming-llm") for name in SCHEMES]
PAIRS += [("rope", "pi, streaming-llm"), ("chunked-nope", "direct")]


def hiding(start: int):
    """A hook under which the tokens from N to `start` are hidden from the ones behind them."""

    def sees(part, at):
        kept = (at.j < N) | (at.j >= start) | (at.i[:, None] < start)
        inner = part.sees(at)
        return kept if inner is None else kept & inner

    return sees


@pytest.mark.parametrize("name, extensions", PAIRS)
def test_a_jump_is_the_long_text_whose_middle_no_later_token_sees(name, extensions):
    model = gpt(name, length=L, layers=4 if name == "chunked-nope" else 2)
    for extension in extensions.split(", "):
        given = node("extension", extension) | EXTENDED[extension]
        model = made(given, "extension")(model)
    inside = InspectedModel(model, model, lambda layers: model)
    text = torch.from_numpy(np.stack(TEXTS.all).astype(np.int64))
    middle = torch.randint(30, (len(text), 48), generator=torch.Generator().manual_seed(0))
    for start in (6, 11, 48):
        whole = torch.cat([text[:, :N], middle[:, : start - N], text[:, N:]], 1)
        expected = inside(whole, last=N, sees=hiding(start))
        found = inside.jumped(text, after=N, jump=start - N, last=N)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["randomised-rope", "random-floats"])
def test_positions_that_are_drawn_do_not_jump_and_have_no_rows_that_say_so(name):
    protocols = [row["protocol"] for row in found(name)[1].rows]
    assert set(protocols) == {"none", "alone"}
    strided = found("randomised-rope", extension="randomised-stride")[1]
    assert {row["protocol"] for row in strided.rows} == {"none", "alone", "jump"}


LONG = 16


def by_loop(text, start, match, far):
    """`matched` written as it is defined, one place at a time."""
    out = np.zeros((len(text), text.shape[1] - start), bool)
    for d, row in enumerate(text.tolist()):
        for t in range(max(start, match), len(row)):
            last = None
            for p in range(match, t):
                if row[p - match : p] == row[t - match : t]:
                    last = p
            out[d, t - start] = last is not None and t - last > far and row[last] == row[t]
    return out


@pytest.mark.parametrize("match", [1, 2, 3])
@pytest.mark.parametrize("far", [0, 5, 20])
def test_matches_are_those_of_a_loop(match, far):
    text = np.random.default_rng(0).integers(12 // match**2 + 2, size=(9, 90))
    found = matched(text, 30, match, far)
    np.testing.assert_array_equal(found, by_loop(text, 30, match, far))
    assert found.any() and not found.all()


def far_reader(reach, better=0.25, worse=6.0):
    """A model of `worse` nats on every token, but of `better` on those that the last match of
    three tokens within `reach` tells.
    """

    def model(tokens, last):
        logits = torch.zeros(len(tokens), last, VOCABULARY.size, dtype=torch.float64)
        rest = VOCABULARY.size - 1
        for row, out in zip(tokens.tolist(), logits, strict=True):
            for j in range(last):
                t = len(row) - last + j + 1  # of the token that is predicted
                out[j] = -worse
                for p in range(max(4, t - reach), t):
                    if row[p - 3 : p] == row[t - 3 : t] and t >= 4:
                        out[j] = np.log(-np.expm1(-better) / rest)
                        out[j, row[p]] = -better
        return logits

    return model


def documents():
    rng = np.random.default_rng(0)
    rows = rng.integers(200, size=(6, 4 * LONG))
    rows[:, -8:] = rows[:, 10:18]  # 46 tokens back: further than 2 L
    return rows


def task(**options):
    return LongLoss(**{"multiples": (1, 2, 4), "match": 3, "documents": 6} | options)


def test_far_tokens_cost_less_once_the_context_reaches_them():
    result = measure(task(), far_reader(reach=60), Texts(documents()), LONG)
    nll, share = values(result, "nll"), {r["protocol"]: r for r in result.rows if "length" not in r}
    assert share["match"]["value"] == pytest.approx(5 / 8)
    plain = float(np.log(VOCABULARY.size))  # equal logits of -worse are a uniform guess
    for c in (8, 16, 32):
        assert nll["match", c] == pytest.approx(plain) == nll["all", c]
    assert nll["match", 64] == pytest.approx(0.25)
    assert nll["all", 64] == pytest.approx((5 * 0.25 + 3 * plain) / 8)
    assert share["own"]["value"] == 0 and not [at for at in nll if at[0] == "own"]
    tokens = [i["value"] for i in result.items if i["metric"] == "tokens" and i["length"] == 64]
    assert sorted(tokens) == [5] * 6 + [8] * 6


def test_own_tokens_are_those_that_the_training_length_helped():
    rows = documents()
    rows[:, -4:] = rows[:, -16:-12]  # 12 back: within L, not within L / 2
    result = measure(task(), far_reader(reach=14), Texts(rows), LONG)
    nll = values(result, "nll")
    plain = float(np.log(VOCABULARY.size))
    assert nll["own", 8] == pytest.approx(plain)
    assert {round(nll["own", c], 9) for c in (16, 32, 64)} == {0.25}
    (share,) = (r for r in result.rows if r["metric"] == "share" and r["protocol"] == "own")
    assert share["value"] == pytest.approx(1 / 8)


def test_tokens_without_a_loss_within_the_training_length_leave_own_unknown():
    """No comparison holds of nan, so that the other tokens would make a smaller `own`."""
    rows = documents()
    rows[:, -4:] = rows[:, -16:-12]
    reader = far_reader(reach=14)

    def overflowing(tokens, last):
        logits = reader(tokens, last)
        logits[0, -1] *= np.nan if tokens.shape[1] == LONG else 1
        return logits

    result = measure(task(), overflowing, Texts(rows), LONG)
    own = [row for row in result.rows if row["protocol"] == "own"]
    assert [row["metric"] for row in own] == ["share", *["nll"] * 4]
    assert all(np.isnan(row["value"]) and row["status"] == "diverged" for row in own)
    lost = {row.get("length") for row in result.rows if row["status"] == "diverged"}
    assert lost == {None, 8, LONG, 32, 64}
    assert np.isfinite(values(result, "nll")["all", 64])


pytestmark = pytest.mark.usefixtures("elsewhere")


def test_one_step_leaves_the_model_as_it_was_drawn():
    options = yaml.safe_load((CONF / "experiment" / "untrained.yaml").read_text())["train"]
    j = job("scheme=t5", *(f"train.{name}={value}" for name, value in options.items()))
    stage.train(j)
    trained, drawn = torch.load(j.run.weights, weights_only=True), j.source.model().state_dict()
    assert trained.keys() == drawn.keys() and j.run.state["steps"] == 1
    for name, weight in drawn.items():
        torch.testing.assert_close(trained[name], weight, atol=1e-10, rtol=1e-6)
