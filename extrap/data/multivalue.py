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

from dataclasses import dataclass

import numpy as np

from extrap.data.context import Context, among, woven
from extrap.data.curriculum import Graded, counts
from extrap.data.keyvalue import check_keys, most
from extrap.data.part import Drawn, Size, Weight, answered, stacked
from extrap.data.trials.base import Trials
from extrap.data.vocabulary import RecordLayout, Vocabulary
from extrap.utils.bounds import Count, Share, at_most

PLAIN = RecordLayout()
VALUES, QUERIES = 30, 31  # keep the random draws of the forms apart


@dataclass(frozen=True, kw_only=True)
class MultiValue(Graded):
    """Training sequences of keys with several values each.

    Args:
        values: the most records of a key, drawn from 1 to it for every sequence
        scattered: share of the hard sequences with a random amount of training text between records

    Easy: a log-uniform number of keys and no filler; hard: a uniform number.
    """

    size: Size = 32
    weight: Weight = 1.0
    values: Count = 4
    scattered: Share = 0.5

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        fit = min(most(length), vocabulary.values)
        why = f"for {length} tokens and data.vocabulary.values={vocabulary.values}"
        at_most(f"{option}.values", self.values, fit, why)
        check_keys(vocabulary, most(length), length)

    def draw(self, context: Context, difficulty: float) -> Drawn:
        rng, length = context.rng, context.length
        texts = context.texts(self.size, length)
        copies = rng.integers(1, self.values + 1, self.size)
        filled = rng.random(self.size) < difficulty * self.scattered
        rows = []
        for each, text, scattered in zip(copies, texts, filled, strict=True):
            (n,) = counts(rng, 1, 1, most(length) // each, difficulty).tolist()
            rows.append(_row(context, n, each, text if scattered else None))
        return stacked(rows, length)


def _row(context: Context, n: int, each: int, text: np.ndarray | None) -> Drawn:
    """Returns one sequence of n keys with `each` records, some of the text between the records,
    then questions up to the end.
    """
    rng, length = context.rng, context.length
    keys = context.keys(n)
    values = context.distinct_values(n, each)
    records = np.stack([keys.repeat(each), values.ravel()], 1)
    records = records[rng.permutation(len(records))]
    filler = np.empty(0, np.int64)
    if text is not None:
        filler = text[: rng.integers(length - 1 - records.size)]
    order = rng.permutation(len(filler) + len(records))
    is_record = np.zeros(len(order), bool)
    is_record[order[: len(records)]] = True
    body = woven(filler, is_record, records)
    questions = -(-(length - len(body)) // 2)  # the last question may be cut off
    key = rng.integers(n, size=questions)
    value = rng.integers(each, size=questions)
    asked = np.stack([keys[key], values[key, value]], 1)
    return answered(context.sequence(body), asked, 1)


@dataclass(frozen=True)
class Needles:
    """n trials of several needles.

    Args:
        tokens: (n, length)
        answers: (n, m) value ids of the needles in the order of their places
        distances: (m,) tokens from the key of each needle to its query, the mean if the order is
            random
        slots: (n, m) the last slot of the query of each needle

    Lengths and distances count the turns of a dialogue.
    """

    tokens: np.ndarray
    answers: np.ndarray
    distances: np.ndarray
    slots: np.ndarray

    @property
    def depths(self) -> list[float]:
        m = len(self.distances)
        return [i / (m - 1) for i in range(m)]


def places(length: int, m: int, queries: int, layout: RecordLayout = PLAIN) -> np.ndarray:
    """Returns the slots of the keys of m needles before `queries` queries, answered but for the
    last; with room for all.
    """
    last = length - asking(queries, layout) - layout.width
    offsets = np.arange(m) * (last - 1) / (m - 1)
    return 1 + np.round(offsets).astype(int)


def asking(queries: int, layout: RecordLayout = PLAIN) -> int:
    """Returns the tokens of so many queries, answered but for the last."""
    return (queries - 1) * layout.width + layout.query_width


def most_needles(length: int, layout: RecordLayout = PLAIN) -> int:
    """Returns how many needles a context holds with a query each, answered but for the last."""
    room = length - 1 - layout.query_width
    return max(0, room + layout.width) // (2 * layout.width)


def needles(trials: Trials, m: int, queries: int) -> Needles:
    """Draws contexts of m needles. queries: 1, of one key with m different values; or m, of m keys
    with a value each, asked in a random order, the answers of all but the last in the context.
    """
    vocabulary = trials.vocabulary
    turns = trials.vocabulary.turns
    layout = vocabulary.layout
    trials = trials.shorter(turns.extra)
    at = places(trials.length, m, queries, layout)
    tail = asking(queries, layout)
    rows, answers, order = [], [], []
    for context in trials.contexts(VALUES if queries == 1 else QUERIES, trials.length):
        keys, values, asked = _one_key(context, m) if queries == 1 else _several_keys(context, m)
        said = layout.records(keys[asked], values[asked]).ravel()
        said = said[:tail]
        records = layout.records(keys, values)
        text = context.text(context.length - 1 - records.size - len(said))
        body = among(text, at - 1, records)
        rows.append(context.sequence(body, said))
        answers.append(values)
        order.append(np.resize(asked.argsort(), m))  # the place of its query
    tokens = turns.laid(np.stack(rows), tail)
    later = queries - 1 - np.stack(order)  # queries after that of a needle
    slots = tokens.shape[1] - 1 - layout.width * later
    # tokens behind the query of a needle: 0, 2, ... 2 (queries - 1), each as often
    behind = layout.query_width + layout.width * (queries - 1) // 2 - len(turns.behind)
    return Needles(tokens, np.stack(answers), trials.length - at - behind, slots)


Drawing = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Keys (m,) and values (m,) of needles, and which of them are asked, in order."""


def _one_key(context: Context, m: int) -> Drawing:
    """Draws m values of one key, which is asked once."""
    vocabulary, rng = context.vocabulary, context.rng
    key = vocabulary.key(int(rng.integers(vocabulary.keys)))
    values = vocabulary.value(rng.permutation(vocabulary.values)[:m])
    return np.full(m, key), values, np.array([0])


def _several_keys(context: Context, m: int) -> Drawing:
    """Draws m keys with a value each, all asked, in a random order."""
    keys = context.keys(m)
    values = context.values(m)
    return keys, values, context.rng.permutation(m)
