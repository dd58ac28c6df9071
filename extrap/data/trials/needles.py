"""Several needles in running text, at equal distances from each other over the whole context.

    several values    BOS text K v1 text K v2 text K v3   K                one key, all of its
                      values are wanted
    several queries   BOS text a va text b vb text c vc   b vb c vc a      every key is asked, one
                      after the other

Needle i of m stands at depth i / (m - 1): its key is token round(depth (last - first)) counted from
the first place, slot 1, to the last, right before the queries. Passkey contexts have one needle in
a sentence that says nothing, over and over. Sources: RULER, arXiv
2404.06654 (several), Landmark Attention, arXiv 2305.16300, and Position Interpolation, arXiv
2306.15595 (passkey).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from extrap.data.text import windows
from extrap.data.vocabulary import RecordLayout, Vocabulary

NOISE = b"Rain falls on the hills. Nothing is to be learned from this line. The road goes on. "
PLAIN = RecordLayout()
VALUES, QUERIES = 30, 31  # keep the random draws of the forms apart


@dataclass(frozen=True)
class Needles:
    """n trials. tokens (n, length); answers (n, m) value ids, of the needles in the order of their
    places; distances (m,): tokens from the key of each needle to the query that asks for it, on
    average where the order is random; asked (n, m): which needle each query asks, empty where one
    query wants all. Lengths are those of what is read, turns of a dialogue among it.
    """

    tokens: np.ndarray
    answers: np.ndarray
    distances: np.ndarray
    asked: np.ndarray

    @property
    def depths(self) -> list[float]:
        m = len(self.distances)
        return [i / (m - 1) for i in range(m)]


def places(length: int, m: int, queries: int, layout: RecordLayout = PLAIN) -> np.ndarray:
    """Slots of the keys of m needles before `queries` queries, answered but for the last; length >=
    least(m, queries).
    """
    last = length - asking(queries, layout) - layout.width
    return 1 + np.round(np.arange(m) * (last - 1) / (m - 1)).astype(int)


def asking(queries: int, layout: RecordLayout = PLAIN) -> int:
    """Tokens of so many queries, answered but for the last."""
    return (queries - 1) * layout.width + layout.query_width


def least(m: int, queries: int, layout: RecordLayout = PLAIN) -> int:
    """The shortest context that holds m needles and the queries."""
    return 1 + layout.width * m + asking(queries, layout)


def several_values(
    vocabulary: Vocabulary, stream: np.ndarray, seed: int, length: int, m: int, items: Iterable[int]
) -> Needles:
    """One key with m different values. Trial i of a length is the same whatever other trials are
    asked for.
    """
    layout, turns = vocabulary.layout, vocabulary.turns
    length -= turns.extra
    at, rows, answers = places(length, m, 1, layout), [], []
    for i in items:
        rng = np.random.default_rng((seed, VALUES, length, i))
        key = vocabulary.key(int(rng.integers(vocabulary.keys)))
        values = vocabulary.value(rng.permutation(vocabulary.values)[:m])
        rows.append(
            _context(
                rng,
                vocabulary,
                stream,
                length,
                at,
                np.full(m, key),
                values,
                layout.queries(np.array(key)),
            )
        )
        answers.append(values)
    return Needles(
        turns.laid(np.stack(rows), layout.query_width),
        np.stack(answers),
        length - layout.query_width - at + len(turns.behind),
        np.empty((len(rows), 0), int),
    )


def several_queries(
    vocabulary: Vocabulary, stream: np.ndarray, seed: int, length: int, m: int, items: Iterable[int]
) -> Needles:
    """m keys with a value each, asked in a random order; the answers of all but the last query
    stand in the context.
    """
    layout, turns = vocabulary.layout, vocabulary.turns
    length -= turns.extra
    at, rows, answers, order = places(length, m, m, layout), [], [], []
    for i in items:
        rng = np.random.default_rng((seed, QUERIES, length, i))
        keys = vocabulary.key(rng.permutation(vocabulary.keys)[:m])
        values = vocabulary.value(rng.integers(vocabulary.values, size=m))
        asked = rng.permutation(m)
        queries = layout.records(keys[asked], values[asked]).ravel()[: asking(m, layout)]
        rows.append(_context(rng, vocabulary, stream, length, at, keys, values, queries))
        answers.append(values)
        order.append(asked)
    # tokens behind the query of a needle: 0, 2, ... 2 (m - 1), each as often
    behind = layout.query_width + layout.width * (m - 1) // 2 - len(turns.behind)
    tokens = turns.laid(np.stack(rows), asking(m, layout))
    return Needles(tokens, np.stack(answers), length - at - behind, np.stack(order))


def _context(rng, vocabulary, stream, length, at, keys, values, queries) -> np.ndarray:
    row = np.empty(length, np.int64)
    text = np.ones(length, bool)
    slots = at[:, None] + np.arange(vocabulary.layout.width)
    text[0] = text[slots] = text[length - len(queries) :] = False
    row[0], row[length - len(queries) :] = vocabulary.bos, queries
    row[slots] = vocabulary.layout.records(keys, values)
    row[text] = windows(rng, stream, 1, int(text.sum()))[0]
    return row


def noise(vocabulary: Vocabulary, length: int) -> np.ndarray:
    """A stream of at least 2 * length tokens of the sentence that says nothing."""
    ids = vocabulary.encoder(NOISE)[0]
    return np.tile(ids, 1 + 2 * length // len(ids))


def passkey_distances(nearest: int, farthest: int, distances: int) -> list[int]:
    """Distances in tokens from the key to the query, spread evenly."""
    return sorted({int(k) for k in np.round(np.linspace(nearest, farthest, distances))})


def k_max(distances: Sequence[int], success: np.ndarray, share: float = 0.2) -> np.ndarray:
    """The largest distance k such that at every distance up to k at least that share of the trials
    succeeds; 0 where there is none.

    distances: (d,), in any order; success: (..., d); the result is (...). A billionth is left to
    rounding.
    """
    order = np.argsort(distances)
    reached = (np.asarray(success)[..., order] >= share - 1e-9).cumprod(-1).sum(-1)
    return np.array([0, *np.asarray(distances)[order]])[reached]
