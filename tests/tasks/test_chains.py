"""Tasks on chains of records and on all of them: aliases, traces, counts and the n-th value."""

import numpy as np
import pytest
import torch

from extrap.data.alias import Alias, table, unseen
from extrap.data.trace import TraceWrittenForm
from extrap.data.trials.base import Trials
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.aggregate import Aggregation
from extrap.tasks.alias import AliasRetrieval
from extrap.tasks.base import Setting
from extrap.tasks.mqar import MultiQueryRecall
from extrap.tasks.nth import NthRecord
from extrap.utils.errors import UserError
from tests.support.hand import VOCABULARY, Texts, drawn_from, measure, solving, values

L = 32
V = Vocabulary(keys=100, values=16)
TEXT = Texts([32 + np.arange(4000) % 26])
STREAM = TEXT.stream("validation")
NAMES = {
    V.key(int(other)): V.key(int(name)) for name, *more in table(V.keys) for other in (name, *more)
}
"""The name behind every name and alias."""


def alias(**options):
    return AliasRetrieval(**{"multiples": (0.5, 1, 2), "trials": 12} | options)


def value_of(context, query, vocabulary):
    """By the table of aliases and a loop over the records."""
    _, key = query
    return next(b for a, b in zip(context[-2::-2], context[::-2], strict=False) if a == NAMES[key])


@pytest.mark.parametrize("length", [12, 32, 33])
def test_training_states_facts_and_asks_for_values_but_of_no_unseen_name_in_two_hops(length):
    rows, scored = Alias(size=300).draw(drawn_from(0, V, STREAM, length), 1.0)
    asked, facts = set(), 0
    rank = {
        V.key(int(key)): (i, hops)
        for i, row in enumerate(table(V.keys))
        for hops, key in enumerate(row)
    }
    for row, score in zip(rows.tolist(), scored, strict=True):
        answers = 1 + np.flatnonzero(score)
        context = row[1 : answers[0] - 2]
        for at in answers:
            mark, key = row[at - 2 : at]
            name, hops = rank[key]
            if mark == V.key(0):
                assert row[at] == value_of(context, (mark, key), V)
                asked.add((bool(unseen(np.array(name))), hops))
            else:
                assert mark == V.key(1) and rank[row[at]] == (name, hops - 1)
                facts += 1
    assert asked == {(False, 0), (False, 1), (False, 2), (True, 0), (True, 1)} and facts > 50


def test_who_matches_letters_alone_knows_the_literal_name_alone():
    def literal(context, query, vocabulary):
        follows = [b for a, b in zip(context, context[1:], strict=False) if a == query[1]]  # noqa: RUF007
        return follows[0] if follows else vocabulary.bos

    found = values(measure(alias(), solving(literal, 2, V), TEXT, L, V), "accuracy")
    assert all(accuracy == (kind == "literal") for (kind, *_), accuracy in found.items())


def saying(step):
    """A model that says step(records, key): what stands behind a token, each of the last ones."""

    def model(tokens, last):
        said = [
            [step(row[1 : len(row) - last], (key,)) for key in row[len(row) - last :]]
            for row in tokens.tolist()
        ]
        return torch.nn.functional.one_hot(torch.tensor(said), VOCABULARY.size).double()

    return model


@pytest.mark.turns
@pytest.mark.parametrize("hops", [0, 1, 2])
def test_who_writes_a_chain_at_random_has_the_guess(hops):
    rng, asked = np.random.default_rng(0), TraceWrittenForm(hops)
    stream, n, rates = TEXT.stream("validation"), 4000, []
    for length in (24, 40):
        made = asked.questions(Trials(VOCABULARY, stream, length, range(n)), 0.5)
        drawn = made.values[np.arange(n), rng.integers(made.values.shape[1], size=n)]
        rates.append((drawn == made.answers).all(1).mean())
        assert rates[-1] == pytest.approx(asked.guess(VOCABULARY, length), abs=0.02)
    assert rates[0] > rates[1]


def nth(**options):
    return NthRecord(**{"multiples": (0.5, 1, 2), "trials": 12} | options)


def by_slot(copies):
    """A reader of the mark and of the slot where even places put the record; it sees no key."""

    def answer(context, query, vocabulary):
        records = len(context) // 2
        order = query[0] - vocabulary.key_ids.start
        rank = order if order < 8 else copies - (16 - order)
        at = int(np.round(np.linspace(0, records - 1, copies))[rank])
        return context[len(context) - 2 * (records - at) + 1]

    return solving(answer, 2)


@pytest.mark.turns
def test_who_never_looks_at_the_key_cannot_answer_nth():
    rates = {}
    for places in ("even", "drawn"):
        asked = nth(trials=200, copies=3, places=places, depths=(0, 0.5, 1))
        found = values(measure(asked, by_slot(3), TEXT, L), "accuracy")
        rates[places] = [rate for (_, n, _), rate in found.items() if n >= L]
    with pytest.raises(UserError, match="several of these depths are one"):
        nth(copies=3).check(Setting(TEXT, VOCABULARY, L))
    assert set(rates["even"]) == {1.0}
    assert max(rates["drawn"]) < 1 / 3


LENGTHS = (8, 32, 64)


def counting(**options):
    return Aggregation(**{"multiples": (0.25, 1, 2), "trials": 20} | options)


@pytest.mark.turns
def test_a_constant_answer_is_chance():
    """By symmetry any label; of count the residue that a binomial number leaves most often."""
    first = VOCABULARY.value_ids.start
    result = measure(counting(trials=1500), solving(lambda *_: first, 1), TEXT, L)
    accuracy, chance = values(result, "accuracy"), values(result, "chance")
    for kind, n in ((k, n) for k in ("majority", "first-half") for n in LENGTHS):
        assert chance[kind, n] == 1 / 4
        assert accuracy[kind, n] == pytest.approx(1 / 4, abs=0.05)
    always = [solving(lambda *_, r=residue: first + 4 + r, 1) for residue in range(4)]
    rates = [values(measure(counting(trials=1500), says, TEXT, L), "accuracy") for says in always]
    for n in LENGTHS:
        best = max(rate["count", n] for rate in rates)
        assert chance["count", n] == pytest.approx(best, abs=0.05)
        assert values(result, "guess")["count", n] == chance["count", n]


SHORT = 33
KEYS, FEW = VOCABULARY.key_ids, VOCABULARY.value_ids


def mqar(**options):
    return MultiQueryRecall(**{"multiples": (1, 2), "trials": 40, "pairs": (2, 8)} | options)


def remembering(value_of):
    """A model that says value_of(values seen so far of the token) at every slot."""

    def model(tokens, last):
        logits = torch.zeros(*tokens.shape, VOCABULARY.size)
        for row, out in zip(tokens.tolist(), logits, strict=True):
            for at, key in enumerate(row):
                seen = [row[i + 1] for i in range(at) if row[i] == key]
                out[at, value_of(seen) if seen else VOCABULARY.bos] = 1
        return logits[:, -last:]

    return model


def test_who_names_the_value_of_any_record_has_the_guess():
    rng = np.random.default_rng(0)

    def model(tokens, last):
        pairs = 8
        values = tokens[:, 2 : 2 + 2 * pairs : 2].numpy()
        named = rng.permuted(values, axis=1)[:, rng.integers(pairs, size=last)]
        return torch.nn.functional.one_hot(torch.from_numpy(named), VOCABULARY.size).double()

    result = measure(mqar(trials=400, pairs=(8,)), model, TEXT, SHORT)
    found = {r["metric"]: r["value"] for r in result.rows if r.get("length") == 66}
    assert found["guess"] == 1 / 8 and found["accuracy"] == pytest.approx(1 / 8, abs=0.02)
    assert {r["status"] for r in result.rows} == {"ok", "not trained"}
    (chance,) = (r["value"] for r in result.rows if r["metric"] == "chance")
    assert chance == 1 / 16
