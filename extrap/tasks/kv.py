"""Key-value retrieval over a grid of length and depth: one record is asked for, at the end of the context.

    records   the context is full of records: more length is more records and more distance
    padded    a fixed number of records (`pairs`) in running text: more length is distance alone

Depth is the place of the record asked for, 0 the first and 1 the last; the other records and the filler are the same at every
depth, so that differences between depths are paired. The sequences: extrap.data.trials.keyvalue. Source: arXiv 2307.03172.
"""

from collections.abc import Sequence

import numpy as np

from extrap.tasks.scoring.single_token import SEED, check_depths, guess, mark, report, report_curve, report_gate, score
from extrap.data.keyvalue import most
from extrap.data.trials.keyvalue import DEPTHS, Layout, Padded, Records
from extrap.data.vocabulary import Vocabulary
from extrap.utils.errors import UserError
from extrap.model.scheme import OutOfRange
from extrap.tasks.base import Model, Progress, Result, Task, check_at_least, check_multiples, lengths


class KV(Task):
    """Accuracy of retrieval, in the protocols records and padded. An answer is one token, so that one forward is greedy decoding.

    multiples: evaluated lengths over the training length, 1 among them; depths: in [0, 1], with 0, 1 and one in [.25, .75];
    trials: of each protocol, length and depth; pairs: records of a padded context; batch_tokens: tokens per forward, which changes
    speed and memory only. Metrics, one row each:

    accuracy, restricted, format    of the most likely token: is the value asked for; is it, among value ids alone; is any value of
                                    the context (what remains of a broken answer is broken retrieval). Wilson intervals.
    primacy, recency, u_depth, tilt, mid    summaries of a curve over depth (stats.depth_contrasts), bootstrap over trials
    gate      mean accuracy over depths of records at the training length; below 0.9 every row has the status `not trained`
    guess     expected accuracy of naming the value of a record at random, 1/k + (1 - 1/k)/values with k records
    chance    of naming a value at random, 1/values

    Items: accuracy (0 or 1) of each trial, and for each cell the index of the record and its distance to the query in tokens.
    """

    def __init__(
        self,
        multiples: Sequence[float] = (1, 1.25, 1.5, 2, 4, 8),
        depths: Sequence[float] = DEPTHS,
        trials: int = 200,
        pairs: int = 8,
        batch_tokens: int = 4096,
    ):
        self.multiples, self.depths, self.trials, self.pairs, self.batch_tokens = multiples, depths, trials, pairs, batch_tokens

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        check_multiples("task.kv.multiples", self.multiples, train_length)
        if 1 not in self.multiples:
            raise UserError(f"task.kv.multiples={list(self.multiples)}: must hold 1, where it shows whether the run learned retrieval")
        check_depths("task.kv.depths", self.depths, "record")
        for name in ("trials", "pairs", "batch_tokens"):
            check_at_least(f"task.kv.{name}", getattr(self, name), 1)
        if self.pairs > most(train_length):
            raise UserError(f"task.kv.pairs={self.pairs}: a context of {train_length} tokens holds at most {most(train_length)} records")
        longest = max(lengths(self.multiples, train_length))
        if most(longest) > vocabulary.keys:
            raise UserError(
                f"task.kv.multiples={list(self.multiples)}: {longest} tokens hold {most(longest)} records, each with a key of its own, but "
                f"data.vocabulary.keys={vocabulary.keys}; give smaller multiples, or train with more keys"
            )
        corpus.check("validation", longest)

    def run(self, model: Model, corpus, vocabulary: Vocabulary, train_length: int, progress: Progress) -> Result:
        layouts: dict[str, Layout] = {"records": Records(), "padded": Padded(self.pairs)}
        plan = [(protocol, n) for n in sorted(lengths(self.multiples, train_length)) for protocol in layouts]
        cost = [n * self.trials * len(self.depths) for _, n in plan]
        result, stream = Result(), corpus.stream("validation")
        for at, (protocol, n) in enumerate(plan):
            where, correct = {"protocol": protocol, "length": n}, []
            try:
                for i, depth in enumerate(self.depths):
                    trials = layouts[protocol].trials(vocabulary, stream, SEED, n, depth, range(self.trials))
                    scores = score(model, trials, vocabulary, self.batch_tokens)
                    report(result, where | {"depth": depth}, scores, trials.places)
                    correct.append(scores["accuracy"])
                    progress(sum(cost[:at]) + (i + 1) * trials.tokens.size, sum(cost))
            except OutOfRange:
                continue
            report_curve(result, where, np.stack(correct, 1), self.depths)
            result.rows.append(where | {"metric": "guess", "value": guess(layouts[protocol].records(n), vocabulary.values)})
            if (protocol, n) == ("records", train_length):
                report_gate(result, where, np.stack(correct, 1))
        result.rows.append({"metric": "chance", "value": 1 / vocabulary.values})
        progress(sum(cost), sum(cost))
        return mark(result)
