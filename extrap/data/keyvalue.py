"""Key-value retrieval: as training data and as a test.

    BOS  [filler and n records k v, every key once]  k v  k v  k v ...      training
    BOS  k v  k v ... K V ... k v  K            records: all slots hold records, so that more length
                                                is more records and more distance
    BOS  k v  text  k v  text  K V  text  K     padded: a fixed number of records in running text,
                                                so that more length is distance alone

In training, queries `k` follow the records and are answered with `v`; only these v are scored.
Records are adjacent pairs and every answer of a sequence is scored, which lets a tiny model learn
it in minutes (the multi-query recall of arXiv 2312.04927). One sequence of 32 tokens, 5 records
scattered in text, `_` a blank:

    <bos> k92 v18 k145 v47 _ k93 v50 b k155 v41 r o k141 v11 k93 v50 k155 v41 k141 v11 k155 v41
    k141 v11 k155 v41 k92 v18 k141 v11 k155

A test takes the gold record K V out and puts it back at each depth, so that the distractors (the
other records), their order and the filler are the same at every depth, token for token. The query
key K is the last token and V the right next one; in the words of a tokenizer a record is a line
`k: v`, and the query `k:` (RecordLayout). Trial i of a length does not depend on other trials,
lengths or depths.

With the value in front of the key, the answer is the token before the key. An induction head reads
the token after the key, which is here the value of the next record; anti-induction reads the token
before it. The same draws make both. One sequence of 16 tokens:

    <bos> v53 k70 v22 k38 v40 k153 v26 k161 k153 v40 k153 v40 k70 v53 k70

Sources: arXiv 2307.03172 (records), RULER, arXiv 2404.06654 (padded), arXiv 2505.21785 (before).
"""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Interval

from extrap.data.context import Context, among, woven
from extrap.data.curriculum import Graded, counts
from extrap.data.part import EARLY, Drawn, Size, answered, stacked
from extrap.data.trials.base import FEWEST, Form, Questions
from extrap.data.vocabulary import RecordLayout, Vocabulary
from extrap.utils.bounds import Share, at_most
from extrap.utils.errors import UserError

# Which record a query asks: Beta(a, b) over depth, 0 the first record, 1 the last.
DEPTHS = {"uniform": (1.0, 1.0), "ends": (0.3, 0.3), "recency": (3.0, 1.0)}


class ValueFirst(RecordLayout):
    """Records `v k` and queries `k`."""

    def records(self, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
        return super().records(keys, values)[..., ::-1]


def most(length: int) -> int:
    """Returns how many records `length` tokens hold next to BOS and one query key."""
    return length // 2 - 1


def check_keys(vocabulary: Vocabulary, records: int, length: int) -> None:
    """Raises UserError if `records` of a sequence of `length` tokens cannot have a key each."""
    why = f"a key for each of the records in {length} tokens"
    vocabulary.check_keys(records, why)


@dataclass(frozen=True, kw_only=True)
class KeyValue(Graded):
    """Training sequences of key-value retrieval.

    Easy sequences hold a log-uniform number of records in [2, most(length)], in a row from the
    start on: few records are what the circuit is learned from. A share `echo` of them are echoes,
    `k v k v  q w q w ...`: every record stands twice, and only its second key is scored. To tell it
    a model has to carry the token before a value to that value, the half of the retrieval circuit
    that is found last; it is also scored before the last layer, so that an early layer learns it.
    Hard sequences hold a uniform number of records, and text as filler, which puts records and
    answers on every slot.

    Args:
        depth: which record a query asks, Beta-distributed over the records: uniform, ends
            (Beta(.3, .3)), recency (Beta(3, 1))
        prefix: share of the hard sequences with a random amount of text before the records
        scattered: share of them with such an amount in the gaps before, between and after them
        tail: share of them filled so that one query at their last slot is all that fits
        echo: share of the easy sequences that are echoes
    """

    size: Size = 32
    depth: Literal["uniform", "ends", "recency"] = "uniform"
    prefix: Share = 0.25
    scattered: Share = 0.25
    tail: Share = 0.3
    echo: Annotated[float, Interval(ge=0, lt=1)] = 0.5

    layout: ClassVar[RecordLayout] = RecordLayout()
    """Of the records in the context."""

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        if self.prefix + self.scattered > 1:
            problem = f"this share and {option}.scattered={self.scattered} are more than 1"
            raise UserError(f"{option}.prefix", self.prefix, problem, "give smaller ones")
        check_keys(vocabulary, most(length), length)

    def draw(self, context: Context, difficulty: float) -> Drawn:
        """Draws the sequences of one step; answers of echoes are marked EARLY."""
        rng, length = context.rng, context.length
        pairs = counts(rng, self.size, FEWEST, most(length), difficulty)
        filler, scattered = self._filler(rng, length - 2 - 2 * pairs, difficulty)
        drawn = rng.random((self.size, context.vocabulary.keys))
        order = drawn.argsort(1)
        keys = context.vocabulary.key(order[:, : most(length)])
        values = context.values(*keys.shape)
        records = self.layout.records(keys, values)
        questions = np.stack([keys, values], -1)
        text = context.texts(self.size, length)
        places = rng.random((self.size, length))  # of filler and records that are scattered
        queries = (length + 3) // 2
        depths = rng.beta(*DEPTHS[self.depth], (self.size, queries))
        starts = rng.integers(4, size=self.size)
        echoes = round(self.size * self.echo * (1 - difficulty))
        echoes = min(echoes, self.size - 1)  # a step without other answers has no mean loss
        rows = []
        for i, n in enumerate(pairs):
            if i < echoes:
                # up to 3 tokens of text put the records on odd and even slots
                front = context.sequence(text[i, : starts[i]])
                rows.append(_echo(front, records[i]))
                continue
            units = np.arange(filler[i] + n)  # tokens of filler, then records
            if scattered[i]:
                units = places[i, : len(units)].argsort()
            is_record = units >= filler[i]
            body = woven(text[i, : filler[i]], is_record, records[i, :n])
            asked = (depths[i] * n).astype(np.int64).clip(max=n - 1)  # a draw can be exactly 1
            rows.append(answered(context.sequence(body), questions[i, asked], 1))
        return stacked(rows, length)

    def _filler(
        self, rng: np.random.Generator, room: np.ndarray, difficulty: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draws how much filler each sequence has, and whether it is scattered; (size,) each."""
        form = rng.random(self.size)
        filled = form < difficulty * (self.prefix + self.scattered)
        scattered = form < difficulty * self.scattered
        amount = np.where(filled, rng.integers(room + 1), 0)
        tail = rng.random(self.size) < difficulty * self.tail
        scattered = np.where(tail, rng.random(self.size) < 0.5, scattered)
        return np.where(tail, room, amount), scattered


def _echo(front: np.ndarray, records: np.ndarray) -> Drawn:
    """Returns a row in which every record stands twice; its second key is marked EARLY."""
    twice = np.tile(records, 2).ravel()
    marks = np.resize([0, 0, EARLY, 0], len(twice))
    return np.concatenate([front, twice]), np.concatenate([0 * front, marks])


class BeforeKey(KeyValue):
    """Training sequences of records `v k`; the options are those of KeyValue. Echoes, too, are
    `v k v k`, where the second value is scored.
    """

    layout = ValueFirst()


@dataclass(frozen=True)
class PairForm(Form):
    """Records and filler: the gold record K V is moved, everything else stays."""

    layout: RecordLayout = field(default=RecordLayout(), kw_only=True)

    def body(self, length: int) -> int:
        """Returns the tokens between BOS and the query without the gold record."""
        return length - 1 - self.layout.query_width - self.layout.width

    @abstractmethod
    def distractors(self, length: int) -> np.ndarray:
        """Returns the offsets of the distractors in the body."""

    @abstractmethod
    def gold(self, length: int, depth: float) -> int:
        """Returns the offset of the gold record in the body."""

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        records = self.records(length)
        if records < 1:
            problem = f"{length} tokens hold no record beside its question"
            raise UserError(option, problem=problem, remedy="give longer lengths")
        check_keys(vocabulary, records, length)

    def question(self, context: Context, depth: float) -> Questions:
        length = context.length
        n = self.records(length)
        slots = self.distractors(length)
        at = self.gold(length, depth)
        keys, values = context.keys(n), context.values(n)
        records = self.layout.records(keys, values)  # (n, width), gold first
        text = context.text(self.body(length) - records[1:].size)
        body = among(text, slots, records[1:])
        query = self.layout.queries(keys[0])
        return Questions(
            tokens=context.sequence(body[:at], records[0], body[at:], query),
            answers=values[:1],
            values=values[:, None],
            index=int((slots < at).sum()),
            distance=length - self.layout.query_width - 1 - at,
            tail=self.layout.query_width,
        )


@dataclass(frozen=True)
class Records(PairForm):
    """As many records as fit, filler in front. Depth is the record's index over the last index."""

    code = 0

    def records(self, length: int) -> int:
        return self.layout.most(length)

    def distractors(self, length: int) -> np.ndarray:
        body = self.body(length)
        width = self.layout.width
        return np.arange(body % width, body, width)

    def gold(self, length: int, depth: float) -> int:
        width = self.layout.width
        index = round(depth * (self.records(length) - 1))
        return self.body(length) % width + width * index


@dataclass(frozen=True)
class Padded(PairForm):
    """`pairs` records, the distractors with equal gaps of text. Depth is the place of the record in
    tokens over the last possible one.

    A place inside a distractor moves in front of it.
    """

    pairs: int
    code = 1

    def records(self, length: int) -> int:
        return self.pairs

    def check(self, option: str, vocabulary: Vocabulary, length: int) -> None:
        why = f"the records that {length} tokens hold"
        at_most(f"{option}.pairs", self.pairs, self.layout.most(length), why)
        super().check(option, vocabulary, length)

    def distractors(self, length: int) -> np.ndarray:
        width = self.layout.width
        filler = length - 1 - self.layout.query_width - width * self.pairs
        j = np.arange(self.pairs - 1)
        return (j + 1) * filler // self.pairs + width * j

    def gold(self, length: int, depth: float) -> int:
        at = round(depth * self.body(length))
        slots = self.distractors(length)
        parted = slots[(slots < at) & (at < slots + self.layout.width)]
        return int(parted[0]) if len(parted) else at
