import numpy as np
import pytest

from extrap.data.query import Query, QueryForm
from extrap.data.vocabulary import Vocabulary
from tests.support.hand import drawn_from

V = Vocabulary()
STREAM = np.random.default_rng(0).integers(256, size=5000).astype(np.uint16)


def draw(length=64, progress=1.0, seed=0, **options):
    return Query(**({"size": 150} | options)).draw(drawn_from(seed, V, STREAM, length), progress)


def parse(row):
    """(asked keys, {key: value}, the token after the records, slot after it)."""
    is_value = np.isin(row, V.value_ids)
    first_value = is_value.argmax()
    asked, at, records = row[1 : first_value - 1].tolist(), first_value - 1, {}
    while at + 1 < len(row) and row[at] in V.key_ids:
        records[row[at]] = row[at + 1]
        at += 2
    return asked, records, row[at], at + 1


@pytest.mark.parametrize("progress", [0.0, 1.0])
@pytest.mark.parametrize("length", [8, 9, 63, 64])
def test_every_answer_is_the_value_of_an_asked_key(length, progress):
    for row, scored in zip(*draw(length, progress), strict=True):
        asked, records, mark, tail = parse(row)
        assert row[0] == V.bos and len(set(asked)) == len(asked) and set(asked) <= set(records)
        assert 2 <= len(records) <= QueryForm("both").records(length)
        queries = row[tail::2].tolist()
        assert queries[: len(asked)] == asked[: len(queries)], "asked in the order of the front"
        assert set(queries) <= set(asked)
        for key, value in zip(queries, row[tail + 1 :: 2], strict=False):
            assert records[key] == value
        first = [tail] if mark == V.bos else []
        expected = first + [t for t in range(tail + 1, tail + 1 + 2 * len(asked), 2) if t <= length]
        assert (np.flatnonzero(scored) + 1).tolist() == expected and expected
        assert mark == V.bos or mark < V.text
