"""Several queries of one context: do later questions of the same records fare as the first?

    BOS  [text]  k v  k v ... k v   q v  q v ... q      each v is asked; what stands before a query
         are right answers

The asked records are different ones, drawn at random. Answers to one context are no independent
samples, so the interval of their mean is bootstrapped over contexts; `design` is what ignoring that
would get wrong. Layout: arXiv 2312.04927.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from extrap.data.context import windows
from extrap.data.keyvalue import check_keys
from extrap.data.trials.base import guess_in_turn
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.base import AtLengths, Counter, Model, Progress, Result, batches
from extrap.tasks.scoring.answers import SEED
from extrap.tasks.scoring.recorder import Recorder
from extrap.utils.bounds import Count, Multiples
from extrap.utils.errors import UserError

CODE = 4  # keeps the random draws apart from those of other layouts


def contexts(
    vocabulary: Vocabulary, stream: np.ndarray, length: int, queries: int, items: Iterable[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Contexts (n, length) that end with the last query, and the values asked for (n, queries)."""
    records, rows, answers = length // 2 - queries, [], []
    for i in items:
        rng = np.random.default_rng((SEED, CODE, length, queries, i))
        keys = vocabulary.key(rng.permutation(vocabulary.keys)[:records])
        pairs = np.stack([keys, vocabulary.value(rng.integers(vocabulary.values, size=records))], 1)
        asked = pairs[rng.permutation(records)[:queries]]
        text = windows(rng, stream, 1, length % 2)[0]
        rows.append(np.concatenate([[vocabulary.bos], text, pairs.ravel(), asked.ravel()[:-1]]))
        answers.append(asked[:, 1])
    return np.array(rows), np.array(answers)


@dataclass(frozen=True, kw_only=True)
class KVSeveral(AtLengths):
    """multiples: evaluated lengths over the training length, 1 among them; queries: of each
    context; trials: contexts of each length; batch_tokens: tokens per forward, which changes speed
    and memory only. Metrics, protocol records:

    accuracy    on the axis `query` of the first, second, ... query, Wilson interval; without an
                axis the mean, bootstrap over contexts
    all         share of the contexts whose queries are all answered
    design      variance of the mean over that of as many independent answers: queries of one
                context that stand and fall together have `queries`, unrelated ones 1; absent where
                all answers are right or all are wrong
    gate, guess, chance    as in extrap.tasks.kv; guess by elimination, since right answers stand
                           before later queries

    Items: accuracy of each context, its share of right answers.
    """

    name: ClassVar[str] = "kv-several"
    needs_one: ClassVar[str] = "the run learned retrieval"

    multiples: Multiples = (1, 2, 4)
    queries: Count = 8
    trials: Count = 200
    batch_tokens: Count = 4096

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        super().check(corpus, vocabulary, train_length)
        ns = self.lengths(train_length)
        if self.queries > ns[0] // 4:
            raise UserError(
                f"{self.option('queries')}: {ns[0]} tokens hold at most {ns[0] // 4} records and a "
                "query for each"
            )
        check_keys(vocabulary, ns[-1] // 2 - self.queries, ns[-1])
        corpus.check("validation", ns[-1])

    def run(
        self, model: Model, corpus, vocabulary: Vocabulary, train_length: int, progress: Progress
    ) -> Result:
        stream, ns = corpus.stream("validation"), self.lengths(train_length)
        recorder, counter = Recorder(), Counter(progress, sum(ns))
        for n in ns:
            tokens, answers = contexts(vocabulary, stream, n, self.queries, range(self.trials))
            with recorder.at(protocol="records", length=n).within_range() as cells:
                correct = self._most_likely(model, tokens) == answers
                self._report(cells, correct)
                cells.drawn(tokens, answers)
                records = n // 2 - self.queries
                cells.value("guess", guess_in_turn(records, self.queries, vocabulary.values))
                if n == train_length:
                    cells.share("gate", correct)
            counter(n)
        recorder.value("chance", 1 / vocabulary.values)
        return recorder.result(bool(recorder.passed))

    @torch.no_grad()
    def _most_likely(self, model: Model, tokens: np.ndarray) -> np.ndarray:
        """(trials, queries): the most likely token after each query."""
        last, likely = 2 * self.queries - 1, []
        for rows in batches(len(tokens), tokens.shape[1], self.batch_tokens):
            likely.append(
                model(torch.from_numpy(tokens[rows]), last=last)[:, ::2].argmax(-1).cpu().numpy()
            )
        return np.concatenate(likely)

    def _report(self, cells: Recorder, correct: np.ndarray) -> None:
        """correct: (trials, queries)."""
        for j, hits in enumerate(correct.T):
            cells.proportion("accuracy", hits, axis="query", at=j + 1)
        cells.share("accuracy", correct)
        cells.proportion("all", np.all(correct, 1))
        share = correct.mean(1)
        if 0 < (p := correct.mean()) < 1:
            cells.value("design", self.queries * share.var() / (p * (1 - p)), n=self.trials)
        cells.scores("accuracy", share)
