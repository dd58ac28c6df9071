"""Recall of lists: the items of a list that a model names, by their places in it.

    recall   all items of the list are wanted: free recall
    span     the last `span` items are wanted: running span

A model trained for both recalls a list in a U: span demands the end, recall demands all items alike
and brings up the start. A model recalls the most likely tokens after the list and the mark of the
demand, as many as items are wanted. Sequences: extrap.data.recall. Source: arXiv 2510.10276.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from extrap.data.recall import DEMANDS, MARKS, Demand, Demands, RecallForm
from extrap.tasks.scoring.answers import right
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.scoring.retrieval import AtDepths, Exam
from extrap.utils.bounds import Count, Multiples


@dataclass(frozen=True, kw_only=True)
class ListRecall(AtDepths):
    """Recall by length and place, a protocol for each of `demands`.

    Args:
        depths: places among the wanted items, 0 the first and 1 the last, with 0, 1 and one in
            [.25, .75]
        trials: lists of each length
        demands: a protocol each
        span: as in training

    The other options: extrap.tasks.scoring.retrieval.

    Metrics:

    recall      is the item among the m most likely tokens, m the number that is wanted, so that
                chance (below) grows with the list: compare lengths above it. Wilson
                interval by depth; the share of all items that are wanted without a depth, bootstrap
                over lists. Of fewer items than depths, several depths are one item
    restricted  the same among key ids alone
    primacy, recency, u_depth, tilt, mid, gate    as there
    guess       of naming m items of the list at random: 1 for recall, which wants all
    chance      of naming m keys at random, the two marks left out: m / (keys - 2), at every length

    Items: recall of each list, its share.
    """

    name: ClassVar[str] = "recall"

    multiples: Multiples = (1, 2, 4)
    demands: Demands = DEMANDS
    span: Count = 4

    def forms(self, vocabulary) -> dict[Demand, RecallForm]:
        return {demand: RecallForm((demand,), self.span) for demand in self.demands}

    def chances(self, forms, vocabulary) -> dict[str, float]:
        """Returns none: chance is a row of every length."""
        return {}

    def measure(self, cells: Recorder, form: RecallForm, exam: Exam) -> np.ndarray:
        questions = form.questions(exam, 0)
        records = form.records(exam.length)
        wanted = form.wanted(records, form.demands[0])
        items = questions.values[:, wanted, 0]
        m = len(wanted)
        vocabulary = exam.vocabulary
        end = np.full((len(items), 1), exam.length - 1)
        named = exam.named(questions.tokens, end, vocabulary.key_ids, m)  # (2, lists, 1, m)
        correct = right(named, items[:, :, None])
        recall, restricted = correct.max(3)
        found = {"recall": recall, "restricted": restricted}
        places = [round(depth * (m - 1)) for depth in self.depths]
        for depth, place in zip(self.depths, places, strict=True):
            cell = cells.at(depth=depth)
            for metric, hits in found.items():
                cell.proportion(metric, hits[:, place])
        guess = form.guess(vocabulary, exam.length)
        chance = m / (vocabulary.keys - MARKS)
        cells.curve(recall[:, places], self.depths)
        for metric, hits in found.items():
            cells.share(metric, hits)
        cells.scores("recall", recall.mean(1))
        cells.drawn(questions.tokens, items)
        cells.value("guess", guess)
        cells.value("chance", chance)
        return recall
