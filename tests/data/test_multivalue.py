"""Keys of several values, read back token by token."""

import numpy as np
import pytest

from extrap.data.multivalue import MultiValue
from extrap.data.vocabulary import Vocabulary
from tests.support.hand import drawn_from

V = Vocabulary()
STREAM = np.random.default_rng(0).integers(256, size=5000).astype(np.uint16)


def draw(length=64, progress=1.0, **options):
    return MultiValue(**{"size": 60} | options).draw(drawn_from(0, V, STREAM, length), progress)


@pytest.mark.parametrize("progress", [0.0, 1.0])
@pytest.mark.parametrize("length", [32, 63, 64])
def test_every_answer_is_one_of_the_values_of_its_key(length, progress):
    sequences, scored = draw(length, progress)
    assert sequences.shape == (60, length + 1)
    assert scored.shape == (60, length)
    assert scored.any(1).all()
    for row, answered in zip(sequences, scored, strict=True):
        first = int(np.flatnonzero(answered)[0])
        known = {}
        for t in range(1, first):
            if row[t] in V.key_ids:
                known.setdefault(row[t], []).append(row[t + 1])
        each = {len(values) for values in known.values()}
        assert row[0] == V.bos and len(each) == 1 and each <= {1, 2, 3, 4}
        assert all(len(set(values)) == len(values) for values in known.values())
        assert np.flatnonzero(answered).tolist() == list(range(first, length, 2))
        assert all(row[t + 1] in known[row[t]] for t in np.flatnonzero(answered))
