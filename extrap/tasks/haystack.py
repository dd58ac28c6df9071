"""Needles in a haystack: records `k v` hidden in held-out text, asked for at the end.

    single       S-NIAH-2   one needle, moved through the context
    multikey     MK-NIAH-1  the same among needles of other keys
    multivalue   MV-NIAH    one key with several values at equal distances, all of which are wanted
    multiquery   MQ-NIAH    several keys at equal distances, all asked one after the other
    passkey      S-NIAH-1   one needle in a sentence that is repeated over and over, at many
                            distances with few trials each

RULER has these names; its others are other tasks here: MK-NIAH-2, a context full of needles,
is `records` of extrap.tasks.kv, and MK-NIAH-3, the same with long keys and values, is
extrap.tasks.kv_wide.
S-NIAH-3, one needle with a long value in text, has no form of its own.

Depth is given as a share of the context and as the distance from the key to the query, in tokens,
on the axis `distance`: it tells what fails with length from what fails with distance. Contexts:
extrap.data.keyvalue (the first two), extrap.data.multivalue. Sources: RULER, arXiv
2404.06654; passkey and k_max, Position Interpolation, arXiv 2306.15595.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from extrap.data.keyvalue import Padded
from extrap.data.multivalue import most_needles, needles
from extrap.data.trials.base import guess_in_turn
from extrap.data.vocabulary import Vocabulary
from extrap.results.stats.intervals import bootstrap_of
from extrap.tasks.base import Model
from extrap.tasks.scoring.answers import right
from extrap.tasks.scoring.recorder import Recorder
from extrap.tasks.scoring.retrieval import AtDepths, Exam
from extrap.utils.bounds import Count, Several, at_most

Measure = Callable[[Recorder, Exam], np.ndarray]
# as in Landmark Attention, arXiv 2305.16300
NOISE = b"Rain falls on the hills. Nothing is to be learned from this line. The road goes on. "


def k_max(distances: Sequence[int], success: np.ndarray) -> np.ndarray:
    """Returns the largest distance k with a fifth of successes at every distance up to k; 0 if
    there is none, nan if a share of successes is nan.

    Args:
        distances: (d,), in any order
        success: (..., d); the result is (...)

    A billionth is left to rounding.
    """
    order = np.argsort(distances)
    by_distance = np.asarray(success)[..., order]
    enough = by_distance >= 0.2 - 1e-9
    reached = enough.cumprod(-1).sum(-1)
    furthest = np.array([0, *sorted(distances)])[reached]
    unknown = np.isnan(by_distance).any(-1)
    return np.where(unknown, np.nan, furthest)


@dataclass(frozen=True, kw_only=True)
class Haystack(AtDepths):
    """Accuracy of needles in text. An answer is one token.

    Args:
        depths: of single and multikey, in [0, 1], with 0, 1 and one in [.25, .75]
        trials: of each cell
        needles: in a context of every protocol with several
        distances, passkey_trials: of passkey, evenly from the nearest to the farthest place

    The other options: extrap.tasks.scoring.retrieval.

    Metrics:

    accuracy, restricted, format, primacy, recency, u_depth, tilt, mid, gate, chance
              as there; restricted of multivalue and multiquery is recall among value ids alone;
              only multiquery has format (every value of multivalue is an answer)
    recall    multivalue: is the value of a needle among the m most likely tokens, m the number of
              values; multiquery: is the answer to its query, after the right answers to those
              before, the most likely token; by needle, and the share without a depth
    guess     as there; of multiquery by elimination, since right answers stand before later
              queries; 1 if every record of a context is a right answer
    all       every needle of the trial; of multiquery it is the exact match of greedy decoding
    k_max     passkey: the largest distance such that at every distance up to it at least a fifth of
              the trials succeed, in tokens; bootstrap over trials, each with all its distances

    What data=mixture trains covers all but multivalue, which extrap.data.multivalue trains. An
    answer of several tokens is never generated: several values are read off one distribution, in
    which a model that lists them would name them one by one. An engine, which has no logits, is
    asked single, multikey and passkey alone.
    """

    name: ClassVar[str] = "haystack"
    inner: ClassVar[bool] = True
    words: ClassVar[bool] = True
    within: ClassVar[bool] = True
    asks: ClassVar = "answers"

    trials: Count = 100
    needles: Several = 4
    distances: Several = 32
    passkey_trials: Count = 10

    def check_forms(self, vocabulary: Vocabulary, lengths: list[int]) -> None:
        shortest = lengths[0]
        text = shortest - vocabulary.turns.extra
        held = most_needles(text, vocabulary.layout)
        ids = f"data.vocabulary.keys={vocabulary.keys} and values={vocabulary.values}"
        why = f"with a query each, for {shortest} tokens, {ids}"
        most = min(held, vocabulary.keys, vocabulary.values)
        at_most(f"task.{self.name}.needles", self.needles, most, why)

    def forms(self, vocabulary: Vocabulary) -> dict[str, Measure]:
        return {
            "single": partial(self._moved, 1),
            "multikey": partial(self._moved, self.needles),
            "multivalue": partial(self._several, 1),
            "multiquery": partial(self._several, self.needles),
            "passkey": self._passkey,
        }

    def asked(self, model: Model, vocabulary: Vocabulary) -> dict[str, Measure]:
        forms = self.forms(vocabulary)
        if hasattr(model, "greedy"):
            del forms["multivalue"], forms["multiquery"]
        return forms

    def cost(self, form: Any, length: int) -> int:
        if form == self._passkey:
            return self.distances * self.passkey_trials * length
        places = len(self.depths) if form.func == self._moved else 1
        return places * self.trials * length

    def chances(self, forms, vocabulary: Vocabulary) -> dict[str, float]:
        several = {"multivalue": self.needles / vocabulary.values}
        return {"": 1 / vocabulary.values} | (several if "multivalue" in forms else {})

    def measure(self, cells: Recorder, form: Measure, exam: Exam) -> np.ndarray:
        return form(cells, exam)

    def _moved(self, pairs: int, cells: Recorder, exam: Exam) -> np.ndarray:
        """Returns which answers are right, (trials, depths)."""
        form = Padded(pairs, layout=exam.vocabulary.layout)
        return self.curve(cells, form, exam, exam.scores, distances=True)

    def _several(self, queries: int, cells: Recorder, exam: Exam) -> np.ndarray:
        trials = needles(exam, self.needles, queries)
        vocabulary = exam.vocabulary
        most = self.needles if queries == 1 else 1
        named = exam.named(trials.tokens, trials.slots, vocabulary.value_ids, most)
        correct = right(named, trials.answers[:, :, None])
        recall, restricted = correct.max(3)
        scores = {"recall": recall, "restricted": restricted}
        if queries > 1:
            any_value = right(named[0], trials.answers[:, None])
            scores["format"] = any_value.max(2)
        distances = trials.distances.tolist()
        places = zip(trials.depths, distances, strict=True)
        for i, (depth, at) in enumerate(places):
            cell = cells.at(depth=depth, axis="distance", at=at)
            of_needle = {metric: hits[:, i] for metric, hits in scores.items()}
            cell.answers(of_needle, {"distance": at})
        exact = recall.min(1)
        cells.answers({"all": exact}, {})
        cells.share("recall", recall)
        cells.drawn(trials.tokens, trials.answers)
        guess = 1.0  # of several values every record is right
        if queries > 1:
            guess = guess_in_turn(self.needles, queries, vocabulary.values)
        cells.value("guess", guess)
        return recall

    def _passkey(self, cells: Recorder, exam: Exam) -> np.ndarray:
        vocabulary = exam.vocabulary
        length = exam.length
        layout = vocabulary.layout
        turns = vocabulary.turns
        form = Padded(1, layout=layout)
        nearest = layout.width + len(turns.behind)
        farthest = length - len(turns.before) - layout.query_width
        even = np.linspace(nearest, farthest, self.distances)
        at = np.unique(even.round().astype(int)).tolist()
        ids, _ = vocabulary.encoder(NOISE)
        repeats = 1 + 2 * length // len(ids)
        noise = np.tile(ids, repeats)
        exam = replace(exam, stream=noise, items=range(self.passkey_trials))
        depths = [(farthest - distance) / (farthest - nearest) for distance in at]
        every = [form.questions(exam, depth) for depth in depths]
        far_first = exam.scores(every[::-1])  # the nearest needle has the longest text before it
        correct = []
        cases = zip(at, depths, every, far_first[::-1], strict=True)
        for distance, depth, questions, scores in cases:
            hits = scores["accuracy"]
            cell = cells.at(depth=depth, axis="distance", at=distance)
            cell.answers({"accuracy": hits}, {"distance": questions.distance})
            correct.append(hits)
        trials = np.stack(correct, 1)
        success = trials.mean(0)
        furthest = float(k_max(at, success))
        low, high = bootstrap_of(partial(k_max, at), trials)
        guess = form.guess(vocabulary, length)
        cells.value("guess", guess)
        cells.value("k_max", furthest, low=low, high=high, n=self.passkey_trials)
        return trials
