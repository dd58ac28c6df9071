"""Several queries of one context: do later questions of the same records fare as the first?

    BOS  [text]  k v  k v ... k v   q v  q v ... q      each v is asked; what stands before a query
         are right answers

The asked records are different ones, drawn at random. Answers to one context are no independent
samples, so the interval of their mean is bootstrapped over contexts. Layout: arXiv 2312.04927.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrap.data.keyvalue import check_keys
from extrap.data.trials.base import Trials, guess_in_turn
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.scoring.answers import right
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.scoring.retrieval import Exam, Retrieval
from extrap.utils.bounds import Count, Multiples, at_most

CODE = 4  # keeps its random draws apart from the draws of other layouts


def contexts(trials: Trials, queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns contexts (n, length) that end with the last query, and the values (n, queries)."""
    length = trials.length
    bos = [trials.vocabulary.bos]
    rows = []
    answers = []
    records = length // 2 - queries
    for context in trials.contexts(CODE, length, queries):
        keys = context.keys(records)
        values = context.values(records)
        pairs = np.stack([keys, values], 1)
        chosen = context.rng.permutation(records)[:queries]
        asked = pairs[chosen]
        text = context.text(length % 2)
        turns = asked.ravel()[:-1]  # the last value is the last answer
        rows.append(np.concatenate([bos, text, pairs.ravel(), turns]))
        answers.append(asked[:, 1])
    return np.array(rows), np.array(answers)


@dataclass(frozen=True, kw_only=True)
class KVSeveral(Retrieval):
    """The task of several queries in one context.

    Args:
        queries: of each context
        trials: contexts of each length

    The other options: extrap.tasks.scoring.retrieval.

    Metrics, protocol records:

    accuracy    on the axis `query` of the first, second, ... query, Wilson interval; without an
                axis the mean, bootstrap over contexts
    all         share of the contexts whose queries are all answered
    gate, guess, chance    as there; guess by elimination, since right answers stand before later
                           queries

    Items: accuracy of each context, its share of right answers.
    """

    name: ClassVar[str] = "kv-several"
    inner: ClassVar[bool] = True
    gate: ClassVar[str | None] = "records"

    multiples: Multiples = (1, 2, 4)
    queries: Count = 8

    def forms(self, vocabulary) -> dict[str, int]:
        return {"records": self.queries}

    def check_forms(self, vocabulary: Vocabulary, lengths: list[int]) -> None:
        shortest = lengths[0]
        longest = lengths[-1]
        why = f"of records that {shortest} tokens hold with a query each"
        at_most(f"task.{self.name}.queries", self.queries, shortest // 4, why)
        records = longest // 2 - self.queries
        check_keys(vocabulary, records, longest)

    def measure(self, cells: Recorder, form: int, exam: Exam) -> np.ndarray:
        tokens, answers = contexts(exam, form)
        vocabulary = exam.vocabulary
        before_last = 2 * np.arange(form)[::-1]
        slots = np.broadcast_to(exam.length - 1 - before_last, answers.shape)
        named = exam.named(tokens, slots, vocabulary.value_ids)
        correct = right(named[0, ..., 0], answers)
        for j, hits in enumerate(correct.T):
            cells.proportion("accuracy", hits, axis="query", at=j + 1)
        exact = correct.min(1)
        records = exam.length // 2 - form
        guess = guess_in_turn(records, form, vocabulary.values)
        cells.share("accuracy", correct)
        cells.proportion("all", exact)
        cells.value("guess", guess)
        cells.scores("accuracy", correct.mean(1))
        cells.drawn(tokens, answers)
        return correct
