"""Needles on readers whose accuracy is known exactly."""

import numpy as np
import pytest
import torch

from extrap.data.multivalue import needles, places
from extrap.data.trials.base import Trials
from extrap.tasks.haystack import Haystack
from tests.support import hand
from tests.support.discover import gpt
from tests.support.hand import VOCABULARY, Texts, measure, oracle, values, window

L = 32
TEXT = Texts([np.arange(4000) % 251])
PROTOCOLS = ("single", "multikey", "multivalue", "multiquery", "passkey")


def task(**options):
    return Haystack(
        **{"multiples": (1, 2), "trials": 12, "distances": 8, "passkey_trials": 5} | options
    )


def reader(sees=oracle, vocabulary=VOCABULARY):
    """At every position: the values behind all earlier keys like the one read, of those among the
    slots it sees; each as likely.
    """

    def model(tokens, last):
        length = tokens.shape[1]
        slot = torch.arange(length - 1)
        out = torch.zeros(len(tokens), last, vocabulary.size)
        out[..., vocabulary.bos] = 0.5
        for w, position in enumerate(range(length - last, length)):
            earlier = slot[slot < position]
            found = (tokens[:, earlier] == tokens[:, position, None]) & sees(earlier, position + 1)
            row, at = torch.nonzero(found, as_tuple=True)
            out[row, w, tokens[row, at + 1]] = 1.0
        return out

    return model


def cells(result, metric):
    return hand.cells(result, metric, "protocol", "length", "at")


def test_an_oracle_finds_every_needle():
    result = measure(task(), reader(), TEXT, L)
    for metric, protocols in (
        ("accuracy", {"single", "multikey", "passkey"}),
        ("recall", {"multivalue", "multiquery"}),
    ):
        found = cells(result, metric)
        assert {p for p, _, _ in found} == protocols and set(found.values()) == {1.0}
    assert values(result, "all") == {
        (p, n): 1.0 for p in ("multivalue", "multiquery") for n in (L, 2 * L)
    }
    assert values(result, "gate") == {(p, L): 1.0 for p in PROTOCOLS}
    chance = {r.get("protocol"): r["value"] for r in result.rows if r["metric"] == "chance"}
    assert chance == {None: 1 / 16, "multivalue": 4 / 16}
    assert values(result, "k_max") == {("passkey", L): L - 2, ("passkey", 2 * L): 2 * L - 2}
    assert {r["status"] for r in result.rows} == {"ok"}


@pytest.mark.parametrize("width", [9, 20, 33])
def test_a_window_is_a_step_at_its_distance(width):
    """Measured from the query of each needle: of the several queries the last one stands at the
    end, the others before.
    """
    result = measure(task(), reader(window(width)), TEXT, L)
    for (protocol, length, distance), value in (
        cells(result, "accuracy") | cells(result, "recall")
    ).items():
        if protocol != "multiquery":
            assert value == (distance < width), (protocol, length, distance)
        else:
            made = needles(Trials(VOCABULARY, TEXT.stream("validation"), length, range(12)), 4, 4)
            each = made.slots - places(length, 4, 4)  # from each needle to its own query
            needle = made.distances.tolist().index(distance)
            assert value == pytest.approx((each[:, needle] < width).mean())
    step = [
        d for p, n, d in cells(result, "accuracy") if (p, n) == ("passkey", 2 * L) and d < width
    ]
    assert values(result, "k_max")["passkey", 2 * L] == max(step)
    assert {r["status"] for r in result.rows if r.get("protocol") == "single"} == {
        "ok" if width >= 32 else "not trained"
    }


def test_needles_with_several_answers_are_scored_three_ways():
    """A reader that likes a letter best and then the values of the context: never right in the full
    vocabulary, always among values.
    """

    def shy(tokens, last):
        out = reader()(tokens, last)
        out[..., 65:69] = 2.0
        return out

    found = measure(task(), shy, TEXT, L)
    for protocol in ("multivalue", "multiquery"):
        said = {
            m: {v for (p, _, _), v in cells(found, m).items() if p == protocol}
            for m in ("recall", "restricted", "format")
        }
        assert said == {
            "recall": {0.0},
            "restricted": {1.0},
            "format": {0.0} if protocol == "multiquery" else set(),
        }

    def mixed(tokens, last):
        """The first value of the context, whatever is asked."""
        out = torch.zeros(len(tokens), last, VOCABULARY.size)
        at = (tokens >= VOCABULARY.value_ids.start).int().argmax(1)
        out[torch.arange(len(tokens)), :, tokens[torch.arange(len(tokens)), at]] = 1.0
        return out

    found = measure(task(), mixed, TEXT, L)
    assert min(v for (p, _, _), v in cells(found, "recall").items() if p == "multiquery") < 1
    assert {v for (p, _, _), v in cells(found, "format").items() if p == "multiquery"} == {1.0}


def test_the_interval_of_the_furthest_passkey():
    """Trials that agree leave no width."""
    furthest = {
        r["length"]: r
        for r in measure(task(passkey_trials=12), reader(window(20)), TEXT, L).rows
        if r["metric"] == "k_max"
    }
    few = measure(task(passkey_trials=5), reader(window(20)), TEXT, L).rows
    assert not any("low" in r for r in few if r["metric"] == "k_max"), "too few to resample"
    assert all(r["low"] == r["value"] == r["high"] for r in furthest.values())


@torch.no_grad()
def test_what_contexts_of_a_passkey_share_is_read_once(monkeypatch):
    """The farthest needle stands first: the nearest one has the longest text before it."""
    model = gpt("rope", vocab=VOCABULARY.size)
    monkeypatch.setattr(Haystack, "forms", lambda self, v: {"passkey": self._passkey})
    alone = measure(task(), model.forward, TEXT, L)
    read = []
    model.embedding.register_forward_hook(lambda m, given, out: read.append(given[0].numel()))
    assert measure(task(), model, TEXT, L) == alone
    whole = 8 * 5 * (L + 2 * L)
    assert sum(read) < 0.65 * whole


def test_every_protocol_has_a_guess():
    """Where no record but the right ones stands in the context it is 1."""
    found = values(measure(task(multiples=(1,)), reader(), TEXT, L), "guess")
    assert set(found) == {(protocol, L) for protocol in PROTOCOLS}
    assert found["single", L] == found["passkey", L] == found["multivalue", L] == 1
    first_of = (1 / 4 + 1 / 3 + 1 / 2 + 1) / 4  # right answers stand before later queries
    assert found["multiquery", L] == pytest.approx(first_of + (1 - first_of) / 16)
