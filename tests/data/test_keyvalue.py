import numpy as np

from extrap.data import keyvalue
from extrap.data.keyvalue import KeyValue
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
