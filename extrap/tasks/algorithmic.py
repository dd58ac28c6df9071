"""Length generalisation: copy, reverse, first = last (even pairs), flip-flops, parity, sorting,
addition and products of permutations on strings longer than in training.

A string stands right after BOS and its answer is scored in one forward pass: it is read with all
but its last token, and right where every token is the most likely one, which is what greedy
decoding says. The strings: extrap.data.strings; arXiv 2305.19466.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import ClassVar

import numpy as np
import torch

from extrap.data.strings import LEARNED, TASKS
from extrap.data.trials.base import SEED
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.base import Counter, Model, Progress, Result, Setting, Task, batches, lengths
from extrap.tasks.scoring.answers import hits
from extrap.tasks.scoring.recorder import Cell, Recorder, recorded
from extrap.utils.bounds import Count, Multiples, OneOrMore


@dataclass(frozen=True, kw_only=True)
class LengthGeneralisation(Task):
    """A protocol for each of `ask`: copy, reverse, even-pairs, flip-flop, flip-flop-sparse
    (extrap.data.strings), parity, sort, addition, addition-hints, s5 (extrap.data.computed).

    Args:
        ask: strings of these tasks
        longest: symbols of the longest trained string, which is to be given with every other
            data.more.*.longest: a task does not see what a run is trained on
        multiples: evaluated lengths in symbols over `longest`, one or more of them at most 1
        trials: of each
        batch_tokens: tokens per forward, which changes speed and memory only

    Rows, axis symbols:

    accuracy    exact match of the whole answer, Wilson interval; length: tokens read
    token       share of right tokens in an answer that is told what came before, bootstrap over
                trials
    gate        mean exact match over the trained lengths (flip-flop-sparse has the gate of
                flip-flop, the trained one); below 0.9 the rows of the protocol have the status
                `not trained`
    chance      exact match of saying the most frequent answer, or one of them at random

    Items: accuracy of each trial, named n:i after the symbols n and the number i.
    """

    name: ClassVar[str] = "algorithmic"
    inner: ClassVar[bool] = True

    multiples: Multiples = (0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4)
    longest: Count = 20
    trials: Count = 200
    batch_tokens: Count = 4096
    ask: OneOrMore[str] = ("copy", "reverse", "even-pairs", "flip-flop", "flip-flop-sparse")

    @property
    def symbols(self) -> list[int]:
        """Returns the evaluated lengths, halves rounded up."""
        return sorted(lengths(self.multiples, self.longest))

    def check(self, setting: Setting) -> None:
        if min(self.multiples) > 1:
            problem = "the trained lengths need one multiple of at most 1"
            raise self.error("multiples", problem, "add one")
        symbols = self.symbols
        alike = len(set(symbols)) < len(symbols)
        if alike or symbols[0] < 1:
            problem = f"with longest={self.longest} the strings have {symbols} symbols"
            raise self.error("multiples", problem, "give lengths above 0 that differ")
        if not set(self.ask) <= set(TASKS):
            raise self.error("ask", "unknown protocol", f"choose from {', '.join(TASKS)}")
        vocabulary = setting.vocabulary
        keys = vocabulary.keys
        for name in self.ask:
            task = TASKS[name]
            task.check_marks("task.algorithmic", vocabulary)
            most = task.most(vocabulary)
            if symbols[-1] > most:
                problem = f"data.vocabulary.keys={keys} has ids for {most} symbols of {name}"
                raise self.error("multiples", problem, "raise it, or give smaller multiples")

    def run(self, model: Model, setting: Setting, progress: Progress) -> Result:
        vocabulary = setting.vocabulary
        gates = {protocol: LEARNED.get(protocol, protocol) for protocol in self.ask}
        trained = [n for n in self.symbols if n <= self.longest]
        wanted = [*product(self.ask, self.symbols)]
        learned = [*product(gates.values(), trained)]
        inside: dict[str, list[np.ndarray]] = defaultdict(list)

        def measure(protocol: str, n: int, cells: Recorder, counter: Counter) -> None:
            task = TASKS[protocol]
            width = task.answer_width(n)
            tokens = self._strings(protocol, n, vocabulary)
            correct = self._correct(model, tokens, width)
            exact = correct.min(1)
            if n <= self.longest:
                inside[protocol].append(exact)
            if (protocol, n) in wanted:
                read = tokens.shape[1] - 1
                chance = task.chance(vocabulary, n)
                cell = cells.at(length=read)
                cell.proportion("accuracy", exact, correct.size)
                cell.per_token("token", correct.sum(1), correct.shape[1])
                cell.scores("accuracy", exact, f"{n}:")
                cells.value("chance", chance)

        cells = []
        for protocol, n in dict.fromkeys(wanted + learned):
            where = {"protocol": protocol, "axis": "symbols", "at": n}
            tokens = TASKS[protocol].width(n) * self.trials
            of_length = partial(measure, protocol, n)
            cells.append(Cell(where, tokens, of_length))
        recorder = recorded(cells, progress)
        nothing = [np.zeros(1)]
        for protocol, gate in gates.items():
            exact = np.concatenate(inside[gate] or nothing)
            recorder.proportion("gate", exact, protocol=protocol)
        return recorder.by_gate()

    def _strings(self, protocol: str, n: int, vocabulary: Vocabulary) -> np.ndarray:
        """Returns BOS and the string of every trial, (trials, T)."""
        code = list(TASKS).index(protocol)
        task = TASKS[protocol]
        found = []
        for i in range(self.trials):
            rng = np.random.default_rng((SEED, code, n, i))
            tokens, _ = task.string(rng, vocabulary, n)
            found.append([vocabulary.bos, *tokens])
        return np.array(found)

    @torch.no_grad()
    def _correct(self, model: Model, tokens: np.ndarray, width: int) -> np.ndarray:
        """Returns (trials, width): whether each of the last tokens is the most likely one."""
        trials, T = tokens.shape
        correct = []
        for rows in batches(trials, T, self.batch_tokens):
            read = torch.from_numpy(tokens[rows, :-1])
            answers = tokens[rows, -width:]
            logits = model(read, last=width)
            correct.append(hits(logits, answers))
        return np.concatenate(correct)
