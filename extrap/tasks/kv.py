"""Key-value retrieval over a grid of length and depth: one record is asked for, at the end of the context.

    records   the context is full of records: more length is more records and more distance
    padded    a fixed number of records (`pairs`) in running text: more length is distance alone

Depth is the place of the record asked for, 0 the first and 1 the last; the other records and the filler are the same at every
depth, so that differences between depths are paired. The sequences: extrap.data.trials. Source: arXiv 2307.03172.
"""

from collections.abc import Sequence

import numpy as np
import torch

from extrap.data.keyvalue import most
from extrap.data.trials import DEPTHS, Layout, Padded, Records, Trials
from extrap.data.vocabulary import Vocabulary
from extrap.errors import UserError
from extrap.scheme import OutOfRange
from extrap.stats import bootstrap_mean, depth_contrasts, depth_summaries, wilson
from extrap.task import Model, Progress, Result, Task, batches, check_at_least, check_multiples, lengths

TRAINED = 0.9  # mean accuracy at the training length from which a run counts as having learned retrieval
SEED = 0  # of the trials: the same for every run, so that runs can be compared trial by trial


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
        self._check_depths()
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

    def _check_depths(self) -> None:
        option = f"task.kv.depths={list(self.depths)}"
        if not all(0 <= d <= 1 for d in self.depths) or len(set(self.depths)) < len(self.depths):
            raise UserError(f"{option}: must be different numbers from 0 (first record) to 1 (last record)")
        try:
            depth_contrasts(self.depths)
        except ValueError:
            raise UserError(f"{option}: must hold 0, 1 and one in between from 0.25 to 0.75, which the summaries compare") from None

    def run(self, model: Model, corpus, vocabulary: Vocabulary, train_length: int, progress: Progress) -> Result:
        layouts: dict[str, Layout] = {"records": Records(), "padded": Padded(self.pairs)}
        plan = [(protocol, n) for n in sorted(lengths(self.multiples, train_length)) for protocol in layouts]
        cost = [n * self.trials * len(self.depths) for _, n in plan]
        result, stream, trained = Result(), corpus.stream("validation"), True
        for at, (protocol, n) in enumerate(plan):
            where, correct = {"protocol": protocol, "length": n}, []
            try:
                for i, depth in enumerate(self.depths):
                    trials = layouts[protocol].trials(vocabulary, stream, SEED, n, depth, range(self.trials))
                    scores = self._scores(model, trials, vocabulary)
                    self._report_cell(result, where | {"depth": depth}, scores, trials)
                    correct.append(scores["accuracy"])
                    progress(sum(cost[:at]) + (i + 1) * trials.tokens.size, sum(cost))
            except OutOfRange:
                continue
            self._report_curve(result, where, np.stack(correct, 1), 1 / layouts[protocol].records(n), 1 / vocabulary.values)
            if (protocol, n) == ("records", train_length):
                trained = self._report_gate(result, where, np.stack(correct, 1))
        result.rows.append({"metric": "chance", "value": 1 / vocabulary.values})
        result.rows = [row | {"status": "ok" if trained else "not trained"} for row in result.rows]
        progress(sum(cost), sum(cost))
        return result

    @torch.no_grad()
    def _scores(self, model: Model, trials: Trials, vocabulary: Vocabulary) -> dict[str, np.ndarray]:
        """{metric: (trials,) 0 or 1}. The most likely token, over the whole vocabulary and among value ids."""
        values, said = vocabulary.value_ids, []
        for rows in batches(self.trials, trials.tokens.shape[1], self.batch_tokens):
            logits = model(torch.from_numpy(trials.tokens[rows]), last=1)[:, -1]
            of_values = logits[:, values.start : values.stop].argmax(-1) + values.start
            said.append(torch.stack([logits.argmax(-1), of_values]).cpu().numpy())
        full, restricted = np.concatenate(said, 1)
        return {
            "accuracy": full == trials.answers,
            "restricted": restricted == trials.answers,
            "format": (full[:, None] == trials.values).any(1),
        }

    def _report_cell(self, result: Result, where: dict, scores: dict[str, np.ndarray], trials: Trials) -> None:
        for metric, score in scores.items():
            low, high = wilson(score.sum(), self.trials)
            result.rows.append(where | {"metric": metric, "value": float(score.mean()), "low": low, "high": high} | self._counts(1))
        result.items.extend(where | {"metric": "accuracy", "item": i, "value": float(hit)} for i, hit in enumerate(scores["accuracy"]))
        result.items.extend(where | {"metric": m, "item": "all", "value": float(getattr(trials, m))} for m in ("index", "distance"))

    def _report_curve(self, result: Result, where: dict, correct: np.ndarray, per_record: float, per_value: float) -> None:
        """correct: (trials, depths)."""
        counts = self._counts(len(self.depths))
        for metric, (value, low, high) in depth_summaries(correct, self.depths).items():
            result.rows.append(where | {"metric": metric, "value": value, "low": low, "high": high} | counts)
        result.rows.append(where | {"metric": "guess", "value": per_record + (1 - per_record) * per_value})

    def _report_gate(self, result: Result, where: dict, correct: np.ndarray) -> bool:
        """Whether the run learned retrieval."""
        mean, counts = float(correct.mean()), self._counts(len(self.depths))
        low, high = bootstrap_mean(correct.sum(1), np.full(self.trials, len(self.depths)))
        result.rows.append(where | {"metric": "gate", "value": mean, "low": low, "high": high} | counts)
        return mean >= TRAINED

    def _counts(self, scored: int) -> dict[str, int]:
        """Independent samples, and tokens scored when each trial has `scored`."""
        return {"n": self.trials, "tokens": self.trials * scored}
