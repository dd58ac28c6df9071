"""The serial position curve: retrieval accuracy at every index of the asked record, first to last.

Contexts are those of the protocol `records` of extrap.tasks.kv: full of records, one of them moved
from place to place, the others and their order the same at every index. A grid of depths shows a
curve at seven places; ends that are one record wide, and holes between the places, show here.
Source of the layout: arXiv 2307.03172.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrap.data.keyvalue import Records
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.base import AtLengths, Counter, Model, Progress, Result
from extrap.tasks.scoring.answers import SEED, score
from extrap.tasks.scoring.recorder import Recorder
from extrap.utils.bounds import Count, Multiples


@dataclass(frozen=True, kw_only=True)
class KVSerial(AtLengths):
    """Accuracy, restricted and format of every index, on the axis `index` from 0, with Wilson
    intervals; gate, guess and chance.

    multiples: evaluated lengths over the training length, 1 among them; trials: of each index;
    batch_tokens: tokens per forward, which changes speed and memory only. Costs trials * length^2 /
    2 tokens for each length. Items: accuracy of each trial, named index:i.
    """

    name: ClassVar[str] = "kv-serial"
    needs_one: ClassVar[str] = "the run learned it"

    multiples: Multiples = (1, 2)
    trials: Count = 100
    batch_tokens: Count = 4096

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        super().check(corpus, vocabulary, train_length)
        longest = max(self.lengths(train_length))
        Records().check("task.kv-serial", vocabulary, longest)
        corpus.check("validation", longest)

    def run(
        self, model: Model, corpus, vocabulary: Vocabulary, train_length: int, progress: Progress
    ) -> Result:
        form, stream = Records(), corpus.stream("validation")
        counts = {n: form.records(n) for n in self.lengths(train_length)}
        counter = Counter(progress, self.trials * sum(n * k for n, k in counts.items()))
        recorder = Recorder()
        for n, records in counts.items():
            done = counter.done + self.trials * n * records
            with recorder.at(protocol="records", length=n).within_range() as cells:
                correct = []
                for index in range(records):
                    depth = index / max(1, records - 1)
                    questions = form.questions(
                        vocabulary, stream, SEED, n, depth, range(self.trials)
                    )
                    scores = score(model, questions, vocabulary, self.batch_tokens)
                    cell = cells.at(axis="index", at=index)
                    for metric, hits in scores.items():
                        cell.proportion(metric, hits)
                    cell.scores("accuracy", scores["accuracy"], f"{index}:")
                    correct.append(scores["accuracy"])
                    if index == 0:
                        cells.drawn(questions.tokens, questions.answers)
                    counter(n * self.trials)
                cells.value("guess", form.guess(vocabulary, n))
                if n == train_length:
                    cells.share("gate", np.stack(correct, 1))
            counter.up_to(done)
        recorder.value("chance", form.chance(vocabulary))
        return recorder.result(bool(recorder.passed))
