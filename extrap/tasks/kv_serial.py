"""The serial position curve: retrieval accuracy at every index of the asked record, first to last.

Contexts are those of the protocol `records` of extrap.tasks.kv: full of records, one of them moved from place to place, the others
and their order the same at every index. A grid of depths shows a curve at seven places; ends that are one record wide, and holes
between the places, show here. Source of the layout: arXiv 2307.03172.
"""

from collections.abc import Sequence

import numpy as np

from extrap.tasks.scoring.single_token import SEED, guess, mark, report, report_gate, score
from extrap.data.trials.keyvalue import Records
from extrap.data.vocabulary import Vocabulary
from extrap.data.trials.digest import drawn
from extrap.utils.errors import UserError
from extrap.model.scheme import OutOfRange
from extrap.tasks.base import Model, Progress, Result, Task, check_at_least, check_multiples, lengths


class KVSerial(Task):
    """Accuracy, restricted and format of every index, on the axis `index` from 0, with Wilson intervals; gate, guess and chance.

    multiples: evaluated lengths over the training length, 1 among them; trials: of each index; batch_tokens: tokens per forward, which
    changes speed and memory only. Costs trials * length^2 / 2 tokens for each length. Items: accuracy of each trial, named index:i.
    """

    def __init__(self, multiples: Sequence[float] = (1, 2), trials: int = 100, batch_tokens: int = 4096):
        self.multiples, self.trials, self.batch_tokens = multiples, trials, batch_tokens

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        check_multiples("task.kv-serial.multiples", self.multiples, train_length)
        if 1 not in self.multiples:
            raise UserError(f"task.kv-serial.multiples={list(self.multiples)}: must hold 1, where it shows whether the run learned it")
        check_at_least("task.kv-serial.trials", self.trials, 1)
        check_at_least("task.kv-serial.batch_tokens", self.batch_tokens, 1)
        longest = max(lengths(self.multiples, train_length))
        Records().check(vocabulary, longest)
        corpus.check("validation", longest)

    def run(self, model: Model, corpus, vocabulary: Vocabulary, train_length: int, progress: Progress) -> Result:
        layout, stream, result = Records(), corpus.stream("validation"), Result()
        plan = [(n, index) for n in sorted(lengths(self.multiples, train_length)) for index in range(layout.records(n))]
        total, done, correct = sum(n for n, _ in plan), 0, []
        for n, index in plan:
            where = {"protocol": "records", "length": n, "axis": "index", "at": index}
            trials = layout.trials(vocabulary, stream, SEED, n, index / max(1, layout.records(n) - 1), range(self.trials))
            try:
                scores = score(model, trials, vocabulary, self.batch_tokens)
            except OutOfRange:
                continue
            cell = Result()
            report(cell, where, scores, {})
            result.rows += cell.rows
            result.items += [item | {"item": f"{index}:{item['item']}"} for item in cell.items]
            if n == train_length:
                correct.append(scores["accuracy"])
            if index == 0:
                result.items.append(drawn({"protocol": "records", "length": n}, trials.tokens, trials.answers))
                chosen = {"metric": "guess", "value": guess(layout.records(n), vocabulary.values)}
                result.rows.append({"protocol": "records", "length": n} | chosen)
            done += n
            progress(done * self.trials, total * self.trials)
        if correct:
            report_gate(result, {"protocol": "records", "length": train_length}, np.stack(correct, 1))
        result.rows.append({"metric": "chance", "value": 1 / vocabulary.values})
        progress(total * self.trials, total * self.trials)
        return mark(result)
