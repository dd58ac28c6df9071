import numpy as np
import pytest

from extrap.data import keyvalue
from extrap.data.curriculum import counts
from extrap.data.keyvalue import KeyValue, most
from extrap.data.part import EARLY
from extrap.data.vocabulary import Vocabulary
from tests.support.hand import drawn_from

V = Vocabulary()
STREAM = np.random.default_rng(0).integers(256, size=5000).astype(np.uint16)


def draw(part=None, length=64, difficulty=1.0, seed=0):
    part = part or KeyValue(size=150, echo=0)
    return part.draw(drawn_from(seed, V, STREAM, length), difficulty)


def keys(sequences):
    return (sequences >= V.key_ids.start) & (sequences < V.key_ids.stop)


def records(sequence, answered):
    """{key: (slot, value)} of the keys whose value is not asked for; keys asked for stand after all
    records.
    """
    start = np.flatnonzero(answered)[0]
    return {sequence[t]: (t, sequence[t + 1]) for t in range(start) if sequence[t] in V.key_ids}


@pytest.mark.parametrize("difficulty", [0.0, 1.0])
@pytest.mark.parametrize("length", [6, 7, 63, 64, 96])
def test_every_answer_is_the_value_of_its_key(length, difficulty):
    for sequence, answered in zip(*draw(length=length, difficulty=difficulty), strict=True):
        first = np.flatnonzero(answered)[0]
        known = records(sequence, answered)
        assert sequence[0] == V.bos
        assert len(known) == sum(t in V.key_ids for t in sequence[:first]), (
            "a key stands in two records"
        )
        assert 2 <= len(known) <= most(length)
        assert np.flatnonzero(answered).tolist() == list(range(first, length, 2)), (
            "queries fill the sequence"
        )
        for t in np.flatnonzero(answered):
            assert sequence[t + 1] == known[sequence[t]][1]
            assert sequence[t + 1] in V.value_ids


@pytest.mark.parametrize("length", [63, 64])
def test_every_slot_is_trained(length):
    made = [draw(KeyValue(size=16000, echo=0), length, difficulty) for difficulty in (0.0, 1.0)]
    sequence, answered = (np.concatenate(arrays) for arrays in zip(*made, strict=True))
    recorded = keys(sequence)[:, :-1] & ~(np.cumsum(answered, 1) > 0)
    assert np.flatnonzero(answered.any(0)).tolist() == list(range(5, length)), (
        "BOS and two records stand before the first answer"
    )
    assert np.flatnonzero(recorded.any(0)).tolist() == list(range(1, length - 2))


@pytest.mark.parametrize("difficulty", [0.0, 0.5, 1.0])
def test_the_number_of_records_is_log_uniform_when_easy_and_uniform_when_hard(difficulty):
    size, n = 50_000, np.arange(2, 32)
    pairs = counts(np.random.default_rng(1), size, 2, most(64), difficulty)
    expected = (1 - difficulty) * np.log((n + 1) / n) / np.log(16) + difficulty / len(n)
    found = np.bincount(pairs, minlength=33)[2:32] / size
    assert found.sum() == pytest.approx(1)
    np.testing.assert_allclose(found, expected, atol=5 * np.sqrt(expected.max() / size))


def test_the_last_slot_is_asked_in_the_tails():
    """The record that is asked last stands right in front of its query, at the end."""
    part = KeyValue(size=4000, prefix=0, scattered=0, tail=0.3)
    _, answered = draw(part)
    alone = answered.sum(1) == 1
    assert 0.27 < alone.mean() < 0.36
    assert set(np.flatnonzero(answered[alone].any(0))) <= {62, 63}


def test_echoes_are_records_twice_of_which_the_second_key_is_scored():
    sequences, scored = draw(KeyValue(size=400, echo=0.5), difficulty=0.0)
    assert ((scored == EARLY).any(1) == (np.arange(400) < 200)).all()
    for row, mark in zip(sequences[:200], scored[:200], strict=True):
        start = int(np.argmax(keys(row)))
        body = row[start : start + 4 * ((65 - start) // 4)].reshape(-1, 4)
        assert 1 <= start <= 4 and (row[1:start] < V.text).all()
        assert (body[:, :2] == body[:, 2:]).all() and (body[:, 1] >= V.value_ids.start).all()
        assert len(set(body[:, 0])) == len(body)
        assert np.flatnonzero(mark).tolist() == list(range(start + 1, 64, 4))
        assert set(mark) <= {0, EARLY}


@pytest.mark.parametrize(("difficulty", "echoes"), [(0.0, 50), (0.5, 25), (1.0, 0)])
def test_echoes_leave_as_it_gets_hard(difficulty, echoes):
    _, scored = draw(KeyValue(size=100, echo=0.5), difficulty=difficulty)
    assert (scored == EARLY).any(1).sum() == echoes


@pytest.mark.parametrize(
    ("depth", "mean", "outer"),
    [("uniform", 0.5, 0.2), ("ends", 0.5, 0.56), ("recency", 0.75, 0.27)],
)
def test_depth_of_the_records_asked_for(depth, mean, outer):
    """outer: share of queries in the first and last tenth, of the Beta distribution each name
    stands for.
    """
    depths = []
    for sequence, answered in zip(
        *draw(KeyValue(size=3000, depth=depth, prefix=0, scattered=0, tail=0)), strict=True
    ):
        if np.flatnonzero(answered)[0] == 1 + 2 * 20:
            order = {key: i for i, key in enumerate(records(sequence, answered))}
            depths += [(order[key] + 0.5) / 20 for key in sequence[:-1][answered > 0]]
    assert len(depths) > 500
    assert np.mean(depths) == pytest.approx(mean, abs=0.06)
    assert np.mean([d < 0.1 or d > 0.9 for d in depths]) == pytest.approx(outer, abs=0.06)


def test_the_printed_example_is_one():
    stream = np.frombuffer(b"the quick brown fox jumps over the lazy dog. " * 4, np.uint8)
    sequence, _ = KeyValue(size=1, prefix=0, scattered=1, tail=0).draw(
        drawn_from(10, V, stream, 32), 1.0
    )
    ids = [(V.key_ids, "k"), (V.value_ids, "v")]
    names = {i: f"{mark}{i - of.start}" for of, mark in ids for i in of}
    names |= {V.bos: "<bos>", ord(" "): "_"}
    shown = " ".join(names.get(i) or chr(i) for i in sequence[0, :32].tolist())
    assert shown in " ".join(keyvalue.__doc__.split())
