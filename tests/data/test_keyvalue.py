import numpy as np
import pytest

from extrap.data import keyvalue
from extrap.data.keyvalue import KeyValue, most
from extrap.data.vocabulary import Vocabulary

V = Vocabulary()
STREAM = np.random.default_rng(0).integers(256, size=5000).astype(np.uint16)


def draw(part=None, length=64, progress=1.0, seed=0):
    part = part or KeyValue(size=150)
    return part.draw(np.random.default_rng(seed), STREAM, V, length, progress)


def keys(sequences):
    return (sequences >= V.key_ids.start) & (sequences < V.key_ids.stop)


def records(sequence, answered):
    """{key: (slot, value)} of the keys whose value is not asked for; keys asked for stand after all records."""
    start = np.flatnonzero(answered)[0]
    return {sequence[t]: (t, sequence[t + 1]) for t in range(start) if sequence[t] in V.key_ids}


@pytest.mark.parametrize("progress", [0.0, 1.0])
@pytest.mark.parametrize("length", [6, 7, 63, 64, 96])
def test_every_answer_is_the_value_of_its_key(length, progress):
    for sequence, answered in zip(*draw(length=length, progress=progress), strict=True):
        first = np.flatnonzero(answered)[0]
        known = records(sequence, answered)
        assert sequence[0] == V.bos
        assert len(known) == sum(t in V.key_ids for t in sequence[:first]), "a key stands in two records"
        assert 2 <= len(known) <= most(length)
        assert np.flatnonzero(answered).tolist() == list(range(first, length, 2)), "queries fill the sequence"
        for t in np.flatnonzero(answered):
            assert sequence[t + 1] == known[sequence[t]][1]
            assert sequence[t + 1] in V.value_ids


@pytest.mark.parametrize("length", [63, 64])
def test_every_slot_is_trained(length):
    made = [draw(KeyValue(size=16000), length, progress) for progress in (0.0, 1.0)]
    sequence, answered = (np.concatenate(arrays) for arrays in zip(*made, strict=True))
    recorded = keys(sequence)[:, :-1] & ~(np.cumsum(answered, 1) > 0)
    assert np.flatnonzero(answered.any(0)).tolist() == list(range(5, length)), "BOS and two records stand before the first answer"
    assert np.flatnonzero(recorded.any(0)).tolist() == list(range(1, length - 2))


def test_filler_is_running_text_in_one_of_three_forms():
    sequences, _ = draw(KeyValue(size=4000, prefix=0.3, scattered=0.2))
    filler = sequences < V.text
    text = STREAM.astype(np.uint8).tobytes()
    assert all(bytes(row[of].astype(np.uint8)) in text for row, of in zip(sequences[:300], filler[:300], strict=True))
    in_front = filler.sum(1) == (filler[:, 1:].cumprod(1)).sum(1)
    none, prefix, scattered = (part.mean() for part in (~filler.any(1), filler.any(1) & in_front, ~in_front))
    # Half, 0.3 and 0.2; but some have no room for filler, and some scatter a little of it all in front.
    assert 0.5 < none < 0.62
    assert 0.25 < prefix < 0.32
    assert 0.1 < scattered < 0.2


def test_no_filler_where_none_is_asked_for():
    sequence, _ = draw(KeyValue(size=50, prefix=0, scattered=0))
    assert (sequence[:, 1:] > V.bos).all()


@pytest.mark.parametrize(("progress", "uniform"), [(0.0, 0.0), (0.6, 0.0), (0.675, 0.5), (0.75, 1.0), (1.0, 1.0)])
def test_number_of_records_is_log_uniform_first_and_uniform_at_last(progress, uniform):
    size, n = 50_000, np.arange(2, 32)
    pairs = KeyValue(size=size).pairs(np.random.default_rng(1), 64, progress)
    expected = (1 - uniform) * np.log((n + 1) / n) / np.log(16) + uniform / len(n)
    found = np.bincount(pairs, minlength=33)[2:32] / size
    assert found.sum() == pytest.approx(1)
    np.testing.assert_allclose(found, expected, atol=5 * np.sqrt(expected.max() / size))


@pytest.mark.parametrize(("depth", "mean", "outer"), [("uniform", 0.5, 0.2), ("ends", 0.5, 0.56), ("recency", 0.75, 0.27)])
def test_depth_of_the_records_asked_for(depth, mean, outer):
    """outer: share of queries in the first and last tenth, of the Beta distribution each name stands for."""
    depths = []
    for sequence, answered in zip(*draw(KeyValue(size=3000, depth=depth, prefix=0, scattered=0)), strict=True):
        if np.flatnonzero(answered)[0] == 1 + 2 * 20:
            order = {key: i for i, key in enumerate(records(sequence, answered))}
            depths += [(order[key] + 0.5) / 20 for key in sequence[:-1][answered]]
    assert len(depths) > 500
    assert np.mean(depths) == pytest.approx(mean, abs=0.06)
    assert np.mean([d < 0.1 or d > 0.9 for d in depths]) == pytest.approx(outer, abs=0.06)


def test_the_printed_example_is_one():
    stream = np.frombuffer(b"the quick brown fox jumps over the lazy dog. " * 4, np.uint8)
    sequence, _ = KeyValue(size=1, prefix=0, scattered=1).draw(np.random.default_rng(15), stream, V, 32, 1.0)
    assert V.show(sequence[0, :32]) in keyvalue.__doc__


@pytest.mark.parametrize(
    "options",
    [{"depth": "middle"}, {"prefix": 0.6, "scattered": 0.5}, {"prefix": -0.1}, {"log_uniform_until": 0.8}, {"log_uniform_until": -0.1}],
)
def test_bad_options_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        KeyValue(**options)
