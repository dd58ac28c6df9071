"""Needles in a haystack: records `k v` hidden in held-out text, asked for at the end.

    single       one needle, moved through the context
    multikey     the same among needles of other keys
    multivalue   one key with several values at equal distances, all of which are wanted
    multiquery   several keys at equal distances, all asked one after the other
    passkey      one needle in a sentence that is repeated over and over, at many distances with few trials each

Depth is given as a share of the context and as the distance from the key to the query, in tokens, on the axis `distance`: it tells
what fails with length from what fails with distance. Contexts: extrap.data.trials.keyvalue (the first two), extrap.data.trials.needles. Sources: RULER,
arXiv 2404.06654; passkey and k_max, Position Interpolation, arXiv 2306.15595.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import torch

from extrap.tasks.scoring.single_token import SEED, check_depths, guess, mark_each, report, report_curve, report_gate, score
from extrap.data.trials.needles import Needles, k_max, least, noise, passkey_distances, several_queries, several_values
from extrap.data.trials.keyvalue import DEPTHS, Padded
from extrap.data.vocabulary import Vocabulary
from extrap.data.trials.digest import drawn
from extrap.utils.errors import UserError
from extrap.model.scheme import OutOfRange
from extrap.results.stats.intervals import bootstrap_of
from extrap.tasks.base import Model, Progress, Result, Task, batches, check_at_least, check_multiples, lengths


class Haystack(Task):
    """Accuracy of needles in text. An answer is one token.

    multiples: evaluated lengths over the training length, 1 among them; depths: of single and multikey, in [0, 1], with 0, 1 and one in
    [.25, .75]; trials: of each cell; needles: in a context of every protocol with several; distances, passkey_trials: of passkey, evenly
    from 2 to length - 2 tokens; batch_tokens: tokens per forward, which changes speed and memory only. Metrics:

    accuracy, restricted, format, primacy, recency, u_depth, tilt, mid, guess, chance    as in extrap.tasks.kv; restricted of multivalue
              and multiquery is recall among value ids alone, format that of multiquery (of multivalue every value is an answer)
    recall    multivalue: is the value of a needle among the m most likely tokens, m the number of values; multiquery: is the answer to
              its query, after the right answers to those before, the most likely token; by needle, and the share without a depth
    all       every needle of the trial; of multiquery it is the exact match of greedy decoding
    k_max     passkey: the largest distance such that at every distance up to it at least a fifth of the trials succeed, in tokens;
              bootstrap over trials, each with all its distances
    gate      mean accuracy or recall at the training length; below 0.9 the rows of the protocol have the status `not trained`

    What data=mixture trains covers all but multivalue, which extrap.data.multivalue trains. An answer of several tokens is never
    generated: several values are read off one distribution, in which a model that lists them would name them one by one.
    """

    def __init__(
        self,
        multiples: Sequence[float] = (1, 2, 4, 8),
        depths: Sequence[float] = DEPTHS,
        trials: int = 100,
        needles: int = 4,
        distances: int = 32,
        passkey_trials: int = 10,
        batch_tokens: int = 4096,
    ):
        self.multiples, self.depths, self.trials, self.needles = multiples, depths, trials, needles
        self.distances, self.passkey_trials, self.batch_tokens = distances, passkey_trials, batch_tokens

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        check_multiples("task.haystack.multiples", self.multiples, train_length)
        if 1 not in self.multiples:
            raise UserError(f"task.haystack.multiples={list(self.multiples)}: must hold 1, where it shows whether the run learned the task")
        check_depths("task.haystack.depths", self.depths, "place")
        for name, low in (("trials", 1), ("needles", 2), ("distances", 2), ("passkey_trials", 1), ("batch_tokens", 1)):
            check_at_least(f"task.haystack.{name}", getattr(self, name), low)
        if least(self.needles, self.needles) > train_length or self.needles > min(vocabulary.keys, vocabulary.values):
            raise UserError(
                f"task.haystack.needles={self.needles}: {train_length} tokens hold at most {train_length // 4} needles and their queries, "
                f"each with one of data.vocabulary.keys={vocabulary.keys} and values={vocabulary.values}; give fewer"
            )
        corpus.check("validation", max(lengths(self.multiples, train_length)))

    def run(self, model: Model, corpus, vocabulary: Vocabulary, train_length: int, progress: Progress) -> Result:
        stream, ns = corpus.stream("validation"), sorted(lengths(self.multiples, train_length))
        moved, result, done = (len(self.depths) + 1) * self.trials, Result(), 0
        protocols = {
            "single": (moved, partial(self._moved, stream, 1)),
            "multikey": (moved, partial(self._moved, stream, self.needles)),
            "multivalue": (self.trials, partial(self._several, stream)),
            "multiquery": (self.trials, partial(self._several, stream)),
            "passkey": (self.distances * self.passkey_trials, self._passkey),
        }
        total = sum(cost for cost, _ in protocols.values()) * sum(ns)
        for n in ns:
            for protocol, (cost, measure) in protocols.items():
                part = Result()
                try:
                    measure(part, {"protocol": protocol, "length": n}, model, vocabulary)
                    result.rows += [row for row in part.rows if n == train_length or row["metric"] != "gate"]
                    result.items += part.items
                except OutOfRange:
                    pass
                done += cost * n
                progress(done, total)
        result.rows.append({"metric": "chance", "value": 1 / vocabulary.values})
        result.rows.append({"protocol": "multivalue", "metric": "chance", "value": self.needles / vocabulary.values})
        return mark_each(result)

    def _moved(self, stream: np.ndarray, pairs: int, result: Result, where: dict, model: Model, vocabulary: Vocabulary) -> None:
        correct = []
        for depth in self.depths:
            trials = Padded(pairs).trials(vocabulary, stream, SEED, where["length"], depth, range(self.trials))
            found = score(model, trials, vocabulary, self.batch_tokens)
            cell = {"depth": depth, "axis": "distance", "at": trials.distance}
            report(result, where | cell, found, trials.places)
            correct.append(found["accuracy"])
        report_curve(result, where, np.stack(correct, 1), self.depths)
        report_gate(result, where, np.stack(correct, 1))
        result.rows.append(where | {"metric": "guess", "value": guess(pairs, vocabulary.values)})

    def _several(self, stream: np.ndarray, result: Result, where: dict, model: Model, vocabulary: Vocabulary) -> None:
        form = several_values if where["protocol"] == "multivalue" else several_queries
        trials = form(vocabulary, stream, SEED, where["length"], self.needles, range(self.trials))
        found = self._named(model, trials, vocabulary.value_ids)
        named = found["recall"]
        for i, (depth, at) in enumerate(zip(trials.depths, trials.distances.tolist(), strict=True)):
            cell = where | {"depth": depth, "axis": "distance", "at": at}
            report(result, cell, {metric: hits[:, i] for metric, hits in found.items()}, {"distance": at})
        report(result, where, {"all": named.all(1)}, {})
        report_gate(result, where, named)
        share = result.rows[-1] | {"metric": "recall"}
        result.rows.append(share)
        result.items.append(drawn(where, trials.tokens, trials.answers))
        if where["protocol"] == "multiquery":
            result.rows.append(where | {"metric": "guess", "value": guess(self.needles, vocabulary.values)})

    @torch.no_grad()
    def _named(self, model: Model, trials: Needles, values: range) -> dict[str, np.ndarray]:
        """{metric: (n, m) bool}: which needles are found, in the order of their places."""
        queries, said = max(1, trials.asked.shape[1]), []
        most = self.needles if queries == 1 else 1
        for rows in batches(len(trials.tokens), trials.tokens.shape[1], self.batch_tokens):
            logits = model(torch.from_numpy(trials.tokens[rows]), last=2 * queries - 1)[:, ::2]
            of_values = logits[..., values.start : values.stop].topk(most, -1).indices + values.start
            said.append(torch.stack([logits.topk(most, -1).indices, of_values]).cpu().numpy())
        full, restricted = np.concatenate(said, 1)  # (n, queries, tokens that are named)
        if queries > 1:
            places = trials.asked.argsort(1)[:, :, None]
            full, restricted = (np.take_along_axis(named, places, 1) for named in (full, restricted))
        answers = trials.answers[:, :, None]
        found = {"recall": (answers == full).any(2), "restricted": (answers == restricted).any(2)}
        return found | ({"format": (full == trials.answers[:, None]).any(2)} if queries > 1 else {})

    def _passkey(self, result: Result, where: dict, model: Model, vocabulary: Vocabulary) -> None:
        n, success = where["length"], []
        at, stream = passkey_distances(n, self.distances), noise(vocabulary, n)
        for distance in at:
            depth = (n - 2 - distance) / (n - 4)
            trials = Padded(1).trials(vocabulary, stream, SEED, n, depth, range(self.passkey_trials))
            found = score(model, trials, vocabulary, self.batch_tokens)
            cell = {"depth": depth, "axis": "distance", "at": distance}
            report(result, where | cell, {"accuracy": found["accuracy"]}, {"distance": trials.distance})
            success.append(found["accuracy"])
        right = np.stack(success, 1)
        report_gate(result, where, right)
        low, high = bootstrap_of(partial(k_max, at), right)
        furthest = {"metric": "k_max", "value": int(k_max(at, right.mean(0))), "low": low, "high": high, "n": self.passkey_trials}
        result.rows.append(where | furthest)
