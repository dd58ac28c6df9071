"""Length generalisation: copy, reverse, first = last (even pairs) and flip-flops on strings longer than those of training.

A string stands right after BOS and its answer is scored in one forward pass: it is read with all but its last token, and right where
every token is the most likely one, which is what greedy decoding says. The strings: extrap.data.strings; arXiv 2305.19466.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch

from extrap.tasks.scoring.single_token import SEED, mark_each
from extrap.data.strings import LEARNED, TASKS
from extrap.data.vocabulary import Vocabulary
from extrap.utils.errors import UserError
from extrap.model.scheme import OutOfRange
from extrap.results.stats.intervals import bootstrap_mean, wilson
from extrap.tasks.base import Model, Progress, Result, Task, batches, check_at_least


class LengthGeneralisation(Task):
    """A protocol for each of `ask`: copy, reverse, even-pairs, flip-flop, flip-flop-sparse.

    longest: symbols of the longest trained string, which is to be given with every other data.more.*.longest: a task does not see what
    a run is trained on; multiples: evaluated lengths in symbols over `longest`, one or more of them at most 1; trials: of each;
    batch_tokens: tokens per forward, which changes speed and memory only. Rows, axis symbols:

    accuracy    exact match of the whole answer, Wilson interval; length: tokens read
    token       share of right tokens in an answer that is told what came before, bootstrap over trials
    gate        mean exact match over the trained lengths, of flip-flop-sparse that of flip-flop, which is what is trained; below 0.9
                the rows of the protocol have the status `not trained`
    chance      exact match of saying the most frequent answer, or one of them at random

    Items: accuracy of each trial, named n:i after the symbols n and the number i.
    """

    def __init__(
        self,
        multiples: Sequence[float] = (0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4),
        longest: int = 20,
        trials: int = 200,
        batch_tokens: int = 4096,
        ask: Sequence[str] = ("copy", "reverse", "even-pairs", "flip-flop", "flip-flop-sparse"),
    ):
        self.multiples, self.longest, self.trials, self.batch_tokens, self.ask = multiples, longest, trials, batch_tokens, ask

    @property
    def symbols(self) -> list[int]:
        """Evaluated lengths, halves rounded up."""
        return sorted(math.floor(m * self.longest + 0.5) for m in self.multiples)

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        option = "task.algorithmic"
        for name in ("longest", "trials", "batch_tokens"):
            check_at_least(f"{option}.{name}", getattr(self, name), 1)
        if not self.multiples or not all(0 < m < math.inf for m in self.multiples) or min(self.multiples) > 1:
            raise UserError(f"{option}.multiples={list(self.multiples)}: numbers above 0, one of them at most 1, the trained lengths")
        if len(set(self.symbols)) < len(self.symbols) or self.symbols[0] < 1:
            raise UserError(
                f"{option}.multiples={list(self.multiples)}: of longest={self.longest} are {self.symbols} symbols, some twice or 0"
            )
        if not self.ask or not set(self.ask) <= set(TASKS) or len(set(self.ask)) < len(self.ask):
            raise UserError(f"{option}.ask={list(self.ask)}: one or more of {', '.join(TASKS)}, each once")
        for name in self.ask:
            TASKS[name].check_marks(option, vocabulary)

    def run(self, model: Model, corpus, vocabulary: Vocabulary, train_length: int, progress: Progress) -> Result:
        asked = [(protocol, n) for protocol in self.ask for n in self.symbols]
        learned = [(LEARNED.get(protocol, protocol), n) for protocol in self.ask for n in self.symbols if n <= self.longest]
        plan = list(dict.fromkeys(asked + learned))
        cost = [TASKS[protocol].width(n) * self.trials for protocol, n in plan]
        result, inside = Result(), {protocol: [] for protocol, _ in plan}
        for at, (protocol, n) in enumerate(plan):
            drawn = [np.random.default_rng((SEED, list(TASKS).index(protocol), n, i)) for i in range(self.trials)]
            strings = [TASKS[protocol].string(rng, vocabulary, n) for rng in drawn]
            tokens = np.stack([[vocabulary.bos, *string.tokens] for string in strings])
            try:
                correct = self._correct(model, tokens, TASKS[protocol].answer_width(n))
            except OutOfRange:
                continue
            if (protocol, n) in asked:
                self._report(result, {"protocol": protocol, "length": tokens.shape[1] - 1, "axis": "symbols", "at": n}, correct)
                guess = {"metric": "chance", "value": TASKS[protocol].chance(vocabulary, n)}
                result.rows.append({"protocol": protocol, "axis": "symbols", "at": n} | guess)
            if n <= self.longest:
                inside[protocol].append(correct.all(1))
            progress(sum(cost[: at + 1]), sum(cost))
        for protocol in self.ask:
            self._report_gate(result, protocol, inside[LEARNED.get(protocol, protocol)])
        return mark_each(result)

    @torch.no_grad()
    def _correct(self, model: Model, tokens: np.ndarray, width: int) -> np.ndarray:
        """(trials, width): whether each token of the answer, the last `width` of each row, is the most likely one."""
        said = [model(torch.from_numpy(tokens[rows, :-1]), last=width).argmax(-1).cpu().numpy() for rows in self._batches(tokens)]
        return np.concatenate(said) == tokens[:, -width:]

    def _batches(self, tokens: np.ndarray):
        return batches(len(tokens), tokens.shape[1], self.batch_tokens)

    def _report(self, result: Result, where: dict, correct: np.ndarray) -> None:
        exact, counts = correct.all(1), {"n": len(correct), "tokens": correct.size}
        for metric, value, (low, high) in (
            ("accuracy", exact.mean(), wilson(exact.sum(), len(exact))),
            ("token", correct.mean(), bootstrap_mean(correct.sum(1), np.full(len(correct), correct.shape[1]))),
        ):
            result.rows.append(where | {"metric": metric, "value": float(value), "low": low, "high": high} | counts)
        found = where | {"metric": "accuracy"}
        del found["axis"], found["at"]
        result.items.extend(found | {"item": f"{where['at']}:{i}", "value": float(hit)} for i, hit in enumerate(exact))

    @staticmethod
    def _report_gate(result: Result, protocol: str, found: list[np.ndarray]) -> None:
        exact = np.concatenate(found) if found else np.zeros(1)
        low, high = wilson(exact.sum(), len(exact))
        result.rows.append(
            {"protocol": protocol, "metric": "gate", "value": float(exact.mean()), "low": low, "high": high, "n": len(exact)}
        )
