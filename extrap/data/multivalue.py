"""Several values of a key, and several needles in running text: as training data and as a test.

    training          BOS  [records k v and text in a random order, every key in m records]
                      k v  k v  k v ...                 queries; each answer is one of m
    several values    BOS text K v1 text K v2 text K v3   K               all values of one key
    several queries   BOS text a va text b vb text c vc   b vb c vc a     every key, one after the
                                                                          other

In training each query is answered with one of the values of its key, drawn at random. The best a
model can do is to give all m the same probability: the m most likely tokens are then the whole set,
read off in one forward pass. In a test needle i of m stands at depth i / (m - 1): its key is token
round(depth (last - first)) counted from the first place, slot 1, to the last, right before the
queries. Source of the tests: RULER, arXiv 2404.06654.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from extrap.data.context import Context
from extrap.data.curriculum import Graded, counts
from extrap.data.keyvalue import most
from extrap.data.part import Drawn, Size, Weight, stacked
from extrap.data.vocabulary import RecordLayout, Vocabulary
from extrap.utils.bounds import Count, Share
from extrap.utils.errors import UserError

PLAIN = RecordLayout()
VALUES, QUERIES = 30, 31  # keep the random draws of the forms apart


@dataclass(frozen=True, kw_only=True)
class MultiValue(Graded):
    """Training sequences of keys with several values each.

    values: the most records of a key, drawn from 1 to it for every sequence; scattered: share of
    the hard sequences with a random amount of training text between records. Easy: a log-uniform
    number of keys and no filler; hard: a uniform number.
    """

    size: Size = 32
    weight: Weight = 1.0
    values: Count = 4
    scattered: Share = 0.5

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        if self.values > min(most(length), vocabulary.values):
            raise UserError(
                f"{option}.values",
                self.values,
                (
                    f"a sequence of {length} tokens holds {most(length)} records, and "
                    f"data.vocabulary.values={vocabulary.values}"
                ),
                "give fewer",
            )
        if most(length) > vocabulary.keys:
            raise UserError(
                option,
                problem=(
                    f"{length} tokens hold {most(length)} keys, but "
                    f"data.vocabulary.keys={vocabulary.keys}"
                ),
                remedy="raise data.vocabulary.keys",
            )

    def draw(self, context: Context, difficulty: float) -> Drawn:
        rng, length = context.rng, context.length
        text = context.texts(self.size, length)
        each = rng.integers(1, self.values + 1, self.size)
        filled = rng.random(self.size) < difficulty * self.scattered
        rows = zip(each, filled, text, strict=True)
        return stacked((self._row(context, difficulty, *one) for one in rows), length)

    @staticmethod
    def _row(
        context: Context, difficulty: float, each: int, filled: bool, text: np.ndarray
    ) -> Drawn:
        """Returns one sequence with `each` values of a key, and where its answers are."""
        rng, length = context.rng, context.length
        n = int(counts(rng, 1, 1, most(length) // each, difficulty)[0])
        keys, values = context.keys(n), context.distinct_values(n, each)
        records = np.stack([keys.repeat(each), values.ravel()], axis=1)[rng.permutation(n * each)]
        filler = int(rng.integers(length - 1 - records.size)) if filled else 0
        is_record = np.zeros(filler + len(records), bool)
        is_record[rng.permutation(len(is_record))[: len(records)]] = True
        body = place(is_record, records, text[:filler])
        which = rng.integers(n, size=-(-(length - len(body)) // 2))
        asked = np.stack([keys[which], values[which, rng.integers(each, size=len(which))]], axis=1)
        row = np.concatenate([[context.vocabulary.bos], body, asked.ravel()])
        answers = np.zeros(len(row), bool)
        answers[1 + len(body) + 1 :: 2] = True
        return row, answers


def place(is_record: np.ndarray, records: np.ndarray, filler: np.ndarray) -> np.ndarray:
    """Returns records (n, 2) and filler tokens in the order of is_record, each kind in its own
    order: (2 n + filler,).
    """
    width = np.where(is_record, 2, 1)
    slot = width.cumsum() - width
    body = np.empty(width.sum(), np.int64)
    body[slot[~is_record]] = filler
    body[slot[is_record]], body[slot[is_record] + 1] = records.T
    return body


@dataclass(frozen=True)
class Needles:
    """n trials. tokens (n, length); answers (n, m) value ids of the needles in the order of their
    places; distances (m,): tokens from the key of each needle to its query, the mean if the order
    is random; asked (n, m): the needle of each query, empty if one query wants all. Lengths and
    distances count the turns of a dialogue.
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
    """Returns the slots of the keys of m needles before `queries` queries, answered but for the
    last; length >= least(m, queries).
    """
    last = length - asking(queries, layout) - layout.width
    return 1 + np.round(np.arange(m) * (last - 1) / (m - 1)).astype(int)


def asking(queries: int, layout: RecordLayout = PLAIN) -> int:
    """Returns the tokens of so many queries, answered but for the last."""
    return (queries - 1) * layout.width + layout.query_width


def least(m: int, queries: int, layout: RecordLayout = PLAIN) -> int:
    """Returns the shortest context that holds m needles and the queries."""
    return 1 + layout.width * m + asking(queries, layout)


def several_values(
    vocabulary: Vocabulary, stream: np.ndarray, seed: int, length: int, m: int, items: Iterable[int]
) -> Needles:
    """Draws contexts of one key with m different values. Trial i of a length does not depend on
    the other trials.
    """
    layout, turns = vocabulary.layout, vocabulary.turns
    length -= turns.extra
    at, rows, answers = places(length, m, 1, layout), [], []
    for i in items:
        rng = np.random.default_rng((seed, VALUES, length, i))
        key = vocabulary.key(int(rng.integers(vocabulary.keys)))
        values = vocabulary.value(rng.permutation(vocabulary.values)[:m])
        context = Context(rng, vocabulary, stream, length)
        rows.append(_laid(context, at, np.full(m, key), values, layout.queries(np.array(key))))
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
    """Draws contexts of m keys with a value each, all asked in a random order; the answers of all
    but the last query stand in the context.
    """
    layout, turns = vocabulary.layout, vocabulary.turns
    length -= turns.extra
    at, rows, answers, order = places(length, m, m, layout), [], [], []
    for i in items:
        rng = np.random.default_rng((seed, QUERIES, length, i))
        context = Context(rng, vocabulary, stream, length)
        keys, values, asked = context.keys(m), context.values(m), rng.permutation(m)
        queries = layout.records(keys[asked], values[asked]).ravel()[: asking(m, layout)]
        rows.append(_laid(context, at, keys, values, queries))
        answers.append(values)
        order.append(asked)
    # tokens behind the query of a needle: 0, 2, ... 2 (m - 1), each as often
    behind = layout.query_width + layout.width * (m - 1) // 2 - len(turns.behind)
    tokens = turns.laid(np.stack(rows), asking(m, layout))
    return Needles(tokens, np.stack(answers), length - at - behind, np.stack(order))


def _laid(
    context: Context, at: np.ndarray, keys: np.ndarray, values: np.ndarray, queries: np.ndarray
) -> np.ndarray:
    """Returns records at the slots `at`, the queries at the end, and running text elsewhere."""
    row, layout = np.empty(context.length, np.int64), context.vocabulary.layout
    text = np.ones(context.length, bool)
    slots = at[:, None] + np.arange(layout.width)
    text[0] = text[slots] = text[context.length - len(queries) :] = False
    row[0], row[context.length - len(queries) :] = context.vocabulary.bos, queries
    row[slots] = layout.records(keys, values)
    row[text] = context.text(int(text.sum()))
    return row
