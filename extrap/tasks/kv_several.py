"""Several queries of one context: do later questions of the same records fare as the first?

    BOS  [text]  k v  k v ... k v   q v  q v ... q      each v is asked; what stands before a query are right answers

The asked records are different ones, drawn at random. Answers to one context are no independent samples, so the interval of their
mean is bootstrapped over contexts; `design` is what ignoring that would get wrong. Layout: arXiv 2312.04927.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import torch

from extrap.tasks.scoring.single_token import SEED, guess, mark, report_gate
from extrap.data.keyvalue import check_keys
from extrap.data.text import windows
from extrap.data.vocabulary import Vocabulary
from extrap.data.trials.digest import drawn
from extrap.utils.errors import UserError
from extrap.model.scheme import OutOfRange
from extrap.results.stats.intervals import bootstrap_share, wilson
from extrap.tasks.base import Model, Progress, Result, Task, batches, check_at_least, check_multiples, lengths

CODE = 4  # keeps the random draws apart from those of other layouts


def contexts(vocabulary: Vocabulary, stream: np.ndarray, length: int, queries: int, items: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
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


class KVSeveral(Task):
    """multiples: evaluated lengths over the training length, 1 among them; queries: of each context; trials: contexts of each length;
    batch_tokens: tokens per forward, which changes speed and memory only. Metrics, protocol records:

    accuracy    on the axis `query` of the first, second, ... query, Wilson interval; without an axis the mean, bootstrap over contexts
    all         share of the contexts whose queries are all answered
    design      variance of the mean over that of as many independent answers: queries of one context that stand and fall together
                have `queries`, unrelated ones 1; absent where all answers are right or all are wrong
    gate, guess, chance    as in extrap.tasks.kv

    Items: accuracy of each context, its share of right answers.
    """

    def __init__(self, multiples: Sequence[float] = (1, 2, 4), queries: int = 8, trials: int = 200, batch_tokens: int = 4096):
        self.multiples, self.queries, self.trials, self.batch_tokens = multiples, queries, trials, batch_tokens

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        option = "task.kv-several"
        check_multiples(f"{option}.multiples", self.multiples, train_length)
        if 1 not in self.multiples:
            raise UserError(f"{option}.multiples={list(self.multiples)}: must hold 1, where it shows whether the run learned retrieval")
        for name in ("queries", "trials", "batch_tokens"):
            check_at_least(f"{option}.{name}", getattr(self, name), 1)
        if self.queries > train_length // 4:
            raise UserError(
                f"{option}.queries={self.queries}: {train_length} tokens hold at most {train_length // 4} records and a query for each"
            )
        longest = max(lengths(self.multiples, train_length))
        check_keys(vocabulary, longest // 2 - self.queries, longest)
        corpus.check("validation", longest)

    def run(self, model: Model, corpus, vocabulary: Vocabulary, train_length: int, progress: Progress) -> Result:
        result, stream, evaluated = Result(), corpus.stream("validation"), sorted(lengths(self.multiples, train_length))
        for at, n in enumerate(evaluated):
            tokens, answers = contexts(vocabulary, stream, n, self.queries, range(self.trials))
            try:
                correct = self._said(model, tokens) == answers
            except OutOfRange:
                continue
            where = {"protocol": "records", "length": n}
            self._report(result, where, correct)
            result.items.append(drawn(where, tokens, answers))
            result.rows.append(where | {"metric": "guess", "value": guess(n // 2 - self.queries, vocabulary.values)})
            if n == train_length:
                report_gate(result, where, correct)
            progress(sum(evaluated[: at + 1]), sum(evaluated))
        result.rows.append({"metric": "chance", "value": 1 / vocabulary.values})
        return mark(result)

    @torch.no_grad()
    def _said(self, model: Model, tokens: np.ndarray) -> np.ndarray:
        """(trials, queries): the most likely token after each query."""
        last, said = 2 * self.queries - 1, []
        for rows in batches(len(tokens), tokens.shape[1], self.batch_tokens):
            said.append(model(torch.from_numpy(tokens[rows]), last=last)[:, ::2].argmax(-1).cpu().numpy())
        return np.concatenate(said)

    def _report(self, result: Result, where: dict, correct: np.ndarray) -> None:
        """correct: (trials, queries)."""
        counts = {"n": self.trials, "tokens": self.trials}
        for j, hits in enumerate(correct.T):
            low, high = wilson(hits.sum(), self.trials)
            cell = {"axis": "query", "at": j + 1, "metric": "accuracy", "value": float(hits.mean()), "low": low, "high": high}
            result.rows.append(where | cell | counts)
        whole, share = correct.all(1), correct.mean(1)
        mean = dict(zip(("value", "low", "high"), bootstrap_share(correct), strict=True)) | {"metric": "accuracy"}
        result.rows.append(where | mean | counts | {"tokens": correct.size})
        low, high = wilson(whole.sum(), self.trials)
        result.rows.append(where | {"metric": "all", "value": float(whole.mean()), "low": low, "high": high} | counts)
        if 0 < (p := correct.mean()) < 1:
            design = self.queries * share.var() / (p * (1 - p))
            result.rows.append(where | {"metric": "design", "value": float(design), "n": self.trials})
        result.items.extend(where | {"metric": "accuracy", "item": i, "value": float(value)} for i, value in enumerate(share))
