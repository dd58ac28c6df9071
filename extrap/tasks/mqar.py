"""Multi-query associative recall (MQAR): several keys of one context, each asked once among noise.

    pairs-P   P records; longer contexts have more noise and later questions

Zoology asks 4 records in 64 tokens, 8 in 128, 16 in 256 and 64 in 512, which a model without
attention has to hold in a state of fixed size: `data.length=64 task.mqar.multiples=[1]
task.mqar.pairs=[4]` is the first of these.
Sequences: extrap.data.mqar. Source: arXiv 2312.04927.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import torch
from annotated_types import Interval, MinLen

from extrap.data.context import Context
from extrap.data.mqar import CODE, check_pairs, draw_associations
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.base import AtLengths, Counter, Model, Progress, Result, batches
from extrap.tasks.scoring.answers import SEED
from extrap.tasks.scoring.recorder import Recorder
from extrap.utils.bounds import Count, Different, Multiples


@dataclass(frozen=True, kw_only=True)
class MultiQueryRecall(AtLengths):
    """Accuracy by length, a protocol for each number of `pairs`.

    multiples: evaluated lengths over the training length, 1 among them; trials: contexts of each
    cell; pairs: numbers of records; power: of the gaps before questions, as in training;
    batch_tokens: tokens per forward, which changes speed and memory only. Metrics:

    accuracy    share of right answers, bootstrap over contexts, whose questions are not independent
    gate        the same at the training length; below 0.9 the rows of the protocol have the status
                `not trained`
    guess       of naming the value of a record at random, 1 / P; whoever leaves out values that
                were answered already has the mean of 1, 1 / 2, ... 1 / P
    chance      of naming a value at random, 1 / values

    Items: accuracy of each context, its share of right answers.
    """

    name: ClassVar[str] = "mqar"
    needs_one: ClassVar[str] = "the run learned it"

    multiples: Multiples = (1, 2, 4, 8)
    trials: Count = 200
    pairs: Annotated[Sequence[Count], MinLen(1), Different()] = (2, 4)
    power: Annotated[float, Interval(gt=0, le=1)] = 0.01
    batch_tokens: Count = 4096

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        super().check(corpus, vocabulary, train_length)
        for pairs in self.pairs:
            check_pairs("task.mqar", vocabulary, pairs, min(self.lengths(train_length)))

    def run(
        self, model: Model, corpus, vocabulary: Vocabulary, train_length: int, progress: Progress
    ) -> Result:
        ns = self.lengths(train_length)
        recorder = Recorder()
        counter = Counter(progress, self.trials * sum(ns) * len(self.pairs))
        for n in ns:
            for pairs in self.pairs:
                with recorder.at(protocol=f"pairs-{pairs}", length=n).within_range() as cells:
                    rng = np.random.default_rng((SEED, CODE, n, pairs))
                    context = Context(rng, vocabulary, np.empty(0), n)
                    made = draw_associations(context, self.trials, pairs, self.power)
                    right = self._right(model, made.tokens, made.asked)
                    cells.share("accuracy", right)
                    cells.scores("accuracy", right.mean(1))
                    cells.drawn(made.tokens, made.asked)
                    cells.value("guess", 1 / pairs)
                    if n == train_length:
                        cells.share("gate", right)
                counter(n * self.trials)
        recorder.value("chance", 1 / vocabulary.values)
        return recorder.by_gate()

    @torch.no_grad()
    def _right(self, model: Model, tokens: np.ndarray, asked: np.ndarray) -> np.ndarray:
        """(trials, pairs): is the value the most likely token after its key."""
        last, likely = tokens.shape[1] - int(asked.min()), []
        for rows in batches(len(tokens), tokens.shape[1], self.batch_tokens):
            logits = model(torch.from_numpy(tokens[rows]), last=last)
            likely.append(logits.argmax(-1).cpu().numpy())
        named = np.concatenate(likely)
        places = asked - (tokens.shape[1] - last)
        answers = np.take_along_axis(tokens, asked + 1, 1)
        return np.take_along_axis(named, places, 1) == answers
