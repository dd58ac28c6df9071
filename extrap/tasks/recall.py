"""Recall of lists: which items of a list does a model name, by their places in it?

    recall   all items of the list are wanted: free recall
    span     the last `span` items are wanted: running span

A model trained for both recalls a list in a U: the end for the demand of span, the start for the
uniform demand of recall. What is recalled are the most likely tokens after the list and the mark of
the demand, as many as items are wanted. Sequences: extrap.data.recall. Source: arXiv 2510.10276.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from extrap.data.recall import DEMANDS, MARKS, Demand, Demands, RecallForm
from extrap.data.trials.base import DEPTHS
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.base import AtLengths, Counter, Model, Progress, Result, batches
from extrap.tasks.scoring.answers import SEED
from extrap.tasks.scoring.depth_grid import check_depths
from extrap.tasks.scoring.recorder import Recorder
from extrap.utils.bounds import Count, Depths, Multiples


@dataclass(frozen=True, kw_only=True)
class ListRecall(AtLengths):
    """Recall by length and place, a protocol for each of `demands`.

    multiples: evaluated lengths over the training length, 1 among them; depths: places among the
    items that are wanted, 0 the first and 1 the last, with 0, 1 and one in [.25, .75]; trials:
    lists of each length; demands: what is asked; span: as in training; batch_tokens: tokens per
    forward, which changes speed and memory only. Metrics:

    recall      is the item among the m most likely tokens, m the number that is wanted, so that
                chance (below) grows with the list: compare lengths above it. Wilson
                interval by depth; the share of all items that are wanted without a depth, bootstrap
                over lists
    restricted  the same among key ids alone
    primacy, recency, u_depth, tilt, mid    as in extrap.tasks.kv
    gate        the share at the training length; below 0.9 the rows of the protocol have the status
                `not trained`
    guess       of naming m items of the list at random: 1 for recall, which wants all
    chance      of naming m keys at random, the two marks left out: m / (keys - 2), at every length

    Items: recall of each list, its share.
    """

    name: ClassVar[str] = "recall"
    needs_one: ClassVar[str] = "the run learned it"

    multiples: Multiples = (1, 2, 4)
    depths: Depths = DEPTHS
    trials: Count = 200
    demands: Demands = DEMANDS
    span: Count = 4
    batch_tokens: Count = 4096

    def forms(self) -> dict[Demand, RecallForm]:
        return {demand: RecallForm((demand,), self.span) for demand in self.demands}

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        super().check(corpus, vocabulary, train_length)
        check_depths(self.option("depths"), self.depths)
        for form in self.forms().values():
            for length in self.lengths(train_length):
                form.check(f"task.{self.name}", vocabulary, length)
        corpus.check("validation", max(self.lengths(train_length)))

    def run(
        self, model: Model, corpus, vocabulary: Vocabulary, train_length: int, progress: Progress
    ) -> Result:
        stream, forms, ns = corpus.stream("validation"), self.forms(), self.lengths(train_length)
        recorder, counter = Recorder(), Counter(progress, self.trials * sum(ns) * len(forms))
        for n in ns:
            for demand, form in forms.items():
                with recorder.at(protocol=demand, length=n).within_range() as cells:
                    asked = form.questions(vocabulary, stream, SEED, n, 0, range(self.trials))
                    wanted = form.wanted(form.records(n), demand)
                    items = asked.values[:, wanted, 0]
                    found = self._recalled(model, asked.tokens, items, vocabulary)
                    self._report(cells, found)
                    cells.drawn(asked.tokens, items)
                    cells.value("guess", len(wanted) / form.records(n))
                    cells.value("chance", len(wanted) / (vocabulary.keys - MARKS))
                    if n == train_length:
                        cells.share("gate", found["recall"])
                counter(n * self.trials)
        return recorder.by_gate()

    @torch.no_grad()
    def _recalled(
        self, model: Model, tokens: np.ndarray, items: np.ndarray, vocabulary: Vocabulary
    ) -> dict[str, np.ndarray]:
        """{metric: (trials, m) bool}: whether each item (trials, m) is among the m most likely."""
        m, ids, named = items.shape[1], vocabulary.key_ids, []
        for rows in batches(len(tokens), tokens.shape[1], self.batch_tokens):
            logits = model(torch.from_numpy(tokens[rows]), last=1)[:, -1]
            of_keys = logits[:, ids.start : ids.stop].topk(m).indices + ids.start
            named.append(torch.stack([logits.topk(m).indices, of_keys]).cpu().numpy())
        full, restricted = np.concatenate(named, 1)
        return {
            "recall": (items[:, :, None] == full[:, None]).any(2),
            "restricted": (items[:, :, None] == restricted[:, None]).any(2),
        }

    def _report(self, cells: Recorder, found: dict[str, np.ndarray]) -> None:
        last = found["recall"].shape[1] - 1
        places = [round(depth * last) for depth in self.depths]
        for depth, place in zip(self.depths, places, strict=True):
            cell = cells.at(depth=depth)
            for metric, hits in found.items():
                cell.proportion(metric, hits[:, place])
        cells.curve(found["recall"][:, places], self.depths)
        for metric, hits in found.items():
            cells.share(metric, hits)
        cells.scores("recall", found["recall"].mean(1))
