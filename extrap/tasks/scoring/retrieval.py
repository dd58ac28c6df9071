"""Questions with a right answer: protocols at several lengths, each with a gate; and the grid of
depths that most of them share.

An answer of a tokens is read together with its context but for the last token; it is right where
each of its tokens is the most likely one, which is what greedy decoding says as well.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, ClassVar

import numpy as np
import torch

from extrap.data.trials.base import DEPTHS, Form, Questions, Trials
from extrap.data.vocabulary import Vocabulary
from extrap.results.stats.intervals import depth_contrasts
from extrap.tasks.base import AtLengths, Counter, Model, Progress, Result, Setting, batches
from extrap.tasks.scoring.answers import any_of, best_of, likely, right
from extrap.tasks.scoring.recorder import Cell, Recorder, recorded
from extrap.utils.bounds import Count, Depths
from extrap.utils.errors import UserError

Scores = Callable[[list[Questions]], list[dict[str, np.ndarray]]]


@dataclass(frozen=True)
class Exam(Trials):
    """Trials, the same for every run, and the model that reads them; it counts the tokens read."""

    model: Model
    batch_tokens: int
    counter: Counter

    def score(self, questions: Questions) -> dict[str, np.ndarray]:
        """Returns {metric: (trials,)}, 1, 0 or nan (extrap.tasks.scoring.answers). accuracy: all
        tokens of the answer are the most likely ones; restricted: the same among ids of their kind,
        which is keys, values, or everything else; format: the last tokens are any value of the
        context.
        """
        return self.scores([questions])[0]

    def scores(self, several: Sequence[Questions]) -> list[dict[str, np.ndarray]]:
        """Returns the scores of several lists of questions, the i-th of which begin alike."""
        if hasattr(self.model, "greedy"):
            return [self._said(questions) for questions in several]
        texts = [questions.tokens for questions in several]
        width = several[0].answers.shape[1]
        likely = []
        for logits in self.read_alike(texts, width):
            pairs = zip(several, logits, strict=True)
            each = [self._likely(*pair) for pair in pairs]
            likely.append(np.stack(each))
        named = np.concatenate(likely, 2)  # (several, 2, trials, a)
        found = []
        for questions, (of_all, of_kind) in zip(several, named, strict=True):
            restricted = right(of_kind, questions.answers).min(1)
            found.append(_scored(of_all, questions) | {"restricted": restricted})
        return found

    def _said(self, questions: Questions) -> dict[str, np.ndarray]:
        """Returns the scores of the answers of an engine, which has no logits: without
        `restricted`.
        """
        n, a = questions.answers.shape
        length = questions.tokens.shape[1] - a + 1
        prompts = questions.tokens[:, :length]
        found = []
        for rows in batches(n, length, self.batch_tokens, self.model):
            batch = prompts[rows]
            ids, _ = self.model.greedy(batch.tolist(), [a] * len(batch))
            found.append(ids.numpy())
            self.counter(batch.size)
        named = np.concatenate(found)
        return _scored(named, questions)

    def _likely(self, questions: Questions, logits: torch.Tensor) -> np.ndarray:
        """Returns the most likely of all ids, and of ids of the answer's kind: (2, B, a)."""
        keys = self.vocabulary.key_ids
        values = self.vocabulary.value_ids
        others = range(min(*keys, *values))
        of_kind = []
        for j, token in enumerate(questions.answers[0].tolist()):
            if token in keys:
                kind = keys
            elif token in values:
                kind = values
            else:
                kind = others
            best = best_of(logits[:, j], kind, 1)
            of_kind.append(best[:, 0])
        both = [likely(logits), torch.stack(of_kind, 1)]
        return torch.stack(both).cpu().numpy()

    def named(
        self, tokens: np.ndarray, slots: np.ndarray, ids: Sequence[int], most: int = 1
    ) -> np.ndarray:
        """Returns the most likely ids after these slots (n, q) of tokens (n, T), of all ids and of
        these: (2, n, q, most).
        """
        found = []
        first = int(slots.min())
        last = tokens.shape[1] - first
        for (logits,) in self.read_alike([tokens], last):
            every = range(logits.shape[-1])
            of_all = best_of(logits, every, most)
            of_ids = best_of(logits, ids, most)
            both = torch.stack([of_all, of_ids])
            found.append(both.cpu().numpy())
        named = np.concatenate(found, 1)
        asked = slots[None, :, :, None] - first
        return np.take_along_axis(named, asked, 2)

    @torch.no_grad()
    def read_alike(self, several: Sequence[np.ndarray], last: int) -> Iterator[torch.Tensor]:
        """Yields the logits (N, B, last, vocab) at the end of N lists of tokens (n, T), the i-th
        texts of which begin alike. A model may have `endings(texts, last)`, which need not read
        the same beginning N times.
        """
        n, T = several[0].shape
        for rows in batches(n, T, self.batch_tokens):
            batch = np.stack([tokens[rows] for tokens in several])
            texts = torch.from_numpy(batch)
            if hasattr(self.model, "endings"):
                yield self.model.endings(texts, last)
            else:
                # a model may answer in one buffer
                logits = [self.model(text, last=last).clone() for text in texts]
                yield torch.stack(logits)
            self.counter(texts.numel())


def _scored(named: np.ndarray, questions: Questions) -> dict[str, np.ndarray]:
    """Returns accuracy and format of named tokens (trials, a)."""
    width = questions.values.shape[2]
    accuracy = right(named, questions.answers).min(1)
    a_value = any_of(named[:, -width:], questions.values)
    return {"accuracy": accuracy, "format": a_value}


@dataclass(frozen=True, kw_only=True)
class Retrieval(AtLengths):
    """Protocols at several lengths, each of trials with right answers.

    Args:
        multiples: evaluated lengths over the training length, 1 among them
        trials: of each protocol and length
        batch_tokens: tokens per forward, which changes speed and memory only

    Rows of every protocol, in addition to the metrics of its `measure`:

    gate      mean accuracy at the training length; below 0.9 its rows have the status `not trained`
    guess     expected accuracy of naming the value of a record at random, 1/k + (1 - 1/k)/values
              with k records
    chance    of naming a value at random, 1/values
    """

    trials: Count = 200
    batch_tokens: Count = 4096

    needs_one: ClassVar[str] = "the run learned it"
    gate: ClassVar[str | None] = None
    """The protocol that gives all others its gate and chance; None if each has its own."""

    @abstractmethod
    def forms(self, vocabulary: Vocabulary) -> Mapping[str, Any]:
        """Returns the contexts of every protocol, as a rule a Form in the vocabulary's layout."""

    def asked(self, model: Model, vocabulary: Vocabulary) -> Mapping[str, Any]:
        """Returns the contexts of the protocols that this model can be asked."""
        return self.forms(vocabulary)

    @abstractmethod
    def measure(self, cells: Recorder, form: Any, exam: Exam) -> np.ndarray:
        """Records one protocol at one length, its guess among the rows; returns right answers,
        (trials, questions), as extrap.tasks.scoring.answers.right.
        """

    def cost(self, form: Any, length: int) -> int:
        """Returns the tokens that `measure` reads."""
        return self.trials * length

    def where(self, form: Any, vocabulary: Vocabulary, length: int) -> dict[str, Any]:
        """Returns coordinates of the rows beside protocol and length."""
        return {}

    def chances(self, forms: Mapping[str, Any], vocabulary: Vocabulary) -> dict[str, float]:
        """Returns the accuracy of naming an answer at random, by protocol; of all by ""."""
        return {"": 1 / vocabulary.values}

    def check(self, setting: Setting) -> None:
        super().check(setting)
        lengths = self.lengths(setting.length)
        self.check_forms(setting.vocabulary, lengths)
        setting.corpus.check("validation", max(lengths))

    def check_forms(self, vocabulary: Vocabulary, lengths: list[int]) -> None:
        """Raises UserError, naming the option, for a length at which a form has no questions."""
        option = f"task.{self.name}"
        extra = vocabulary.turns.extra
        forms = self.forms(vocabulary).values()
        for form, length in product(forms, lengths):
            text = length - extra
            if extra and form.records(text) < 1:
                turns = f"the {extra} tokens of the chat template"
                problem = f"{length} tokens hold no record beside {turns}"
                remedy = "give larger multiples, or model.chat=false"
                raise UserError(option, problem=problem, remedy=remedy)
            form.check(option, vocabulary, text)

    def plan(self, model: Model, setting: Setting) -> list[Cell]:
        """Returns the cells of every length and protocol."""
        vocabulary = setting.vocabulary
        stream = setting.stream
        gate_length = self.gate_length(setting.length)

        def measure(n: int, protocol: str, form: Any, cells: Recorder, counter: Counter) -> None:
            trials = range(self.trials)
            exam = Exam(vocabulary, stream, n, trials, model, self.batch_tokens, counter)
            correct = self.measure(cells, form, exam)
            is_gate = self.gate in (None, protocol)
            if is_gate and n == gate_length:
                cells.share("gate", correct)

        cells = []
        for n in self.lengths(setting.length):
            for protocol, form in self.asked(model, vocabulary).items():
                where = {"protocol": protocol, "length": n} | self.where(form, vocabulary, n)
                cost = self.cost(form, n)
                of_form = partial(measure, n, protocol, form)
                cells.append(Cell(where, cost, of_form))
        return cells

    def recorder(self, model: Model, setting: Setting, progress: Progress) -> Recorder:
        """Measures the plan; returns its rows, without a status, and the rows of chance."""
        vocabulary = setting.vocabulary
        plan = self.plan(model, setting)
        recorder = recorded(plan, progress)
        chances = self.chances(self.asked(model, vocabulary), vocabulary)
        for protocol, chance in chances.items():
            where = {"protocol": protocol} if protocol else {}
            recorder.value("chance", chance, **where)
        return recorder

    def run(self, model: Model, setting: Setting, progress: Progress) -> Result:
        recorder = self.recorder(model, setting, progress)
        if self.gate is None:
            trained = {None, *recorder.passed}  # an engine may not read the length of the gate
            return recorder.result(trained.__contains__)
        return recorder.result(bool(recorder.passed))


@dataclass(frozen=True, kw_only=True)
class AtDepths(Retrieval):
    """Right answers at several depths, whose curve has summaries.

    Args:
        depths: in [0, 1], with 0, 1 and one in [.25, .75]
    """

    depths: Depths = DEPTHS

    def check(self, setting: Setting) -> None:
        try:
            depth_contrasts(self.depths)
        except ValueError:
            problem = "the summaries compare depths 0, 1 and one from 0.25 to 0.75"
            raise self.error("depths", problem, "add the one that is missing") from None
        super().check(setting)

    def curve(
        self, cells: Recorder, form: Form, exam: Exam, scores: Scores, distances: bool = False
    ) -> np.ndarray:
        """Records guess, the answers at every depth and the summaries of their curve; returns which
        are right, (trials, depths). distances: whether the cell of a depth has its distance as an
        axis.
        """
        text = exam.length - exam.vocabulary.turns.extra
        guess = form.guess(exam.vocabulary, text)
        cells.value("guess", guess)
        every = [form.questions(exam, depth) for depth in self.depths]
        found = scores(every)
        correct = []
        for depth, questions, hits in zip(self.depths, every, found, strict=True):
            cell = cells.at(depth=depth)
            if distances:
                cell = cell.at(axis="distance", at=questions.distance)
            cell.answers(hits, questions.places)
            correct.append(hits["accuracy"])
        by_depth = np.stack(correct, 1)
        cells.curve(by_depth, self.depths)
        return by_depth


@dataclass(frozen=True, kw_only=True)
class Grid(AtDepths):
    """One record of a context is asked for, at every depth of a grid.

    Args:
        depths: AtDepths
        trials: of each protocol, length and depth

    The other options, gate, guess and chance: Retrieval.

    Further rows of every protocol:

    accuracy, restricted, format    of the most likely token: is the value asked for; is it, among
                                    value ids alone; is any value of the context (what remains of a
                                    broken answer is broken retrieval). Wilson intervals
    primacy, recency, u_depth, tilt, mid    summaries of a curve over depth (stats.depth_contrasts),
                                            bootstrap over trials

    Items: accuracy (0 or 1) of each trial, and for each cell the index of the record and its
    distance to the query in tokens.
    """

    within: ClassVar[bool] = True

    def cost(self, form: Any, length: int) -> int:
        return len(self.depths) * super().cost(form, length)

    def chances(self, forms: Mapping[str, Form], vocabulary: Vocabulary) -> dict[str, float]:
        if self.gate is not None:
            return {"": forms[self.gate].chance(vocabulary)}
        return {protocol: form.chance(vocabulary) for protocol, form in forms.items()}

    def measure(self, cells: Recorder, form: Form, exam: Exam) -> np.ndarray:
        return self.curve(cells, form, exam, exam.scores)
