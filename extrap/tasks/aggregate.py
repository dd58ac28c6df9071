"""Aggregation: questions that only the whole context answers.

    majority     which label stands most often
    first-half   which label stands most often in the first half
    count        how often a label stands, modulo a number

Sequences and chance: extrap.data.aggregate. A longer context has more labels, so that counts grow
past those of training. Sources: RULER, arXiv 2404.06654; OOLONG, arXiv 2511.02817.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import MinLen

from extrap.data.aggregate import KINDS, AggregateForm, Few, Kind
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.base import AtLengths, Counter, Model, Progress, Result
from extrap.tasks.scoring.answers import SEED, score
from extrap.tasks.scoring.recorder import Recorder
from extrap.utils.bounds import Count, Different, Multiples


@dataclass(frozen=True, kw_only=True)
class Aggregation(AtLengths):
    """Accuracy by length, a protocol for each of `ask`; nothing is moved, so that there is no
    depth.

    multiples: evaluated lengths over the training length, 1 among them; trials: of each protocol
    and length; labels, modulus: as in training; batch_tokens: tokens per forward, which changes
    speed and memory only. Metrics:

    accuracy, restricted, format    as in extrap.tasks.kv; format: is any label, of count any count
    gate      accuracy at the training length; below 0.9 the rows of the protocol have the status
              `not trained`
    chance    of always saying the most frequent answer, at every length
    guess     of a reader that counts nothing: it names the label of one place, of first-half one in
              that half, the mean over places and trials; of count as chance

    Items: accuracy of each trial.
    """

    name: ClassVar[str] = "aggregate"
    needs_one: ClassVar[str] = "the run learned it"

    multiples: Multiples = (0.25, 0.5, 1, 2, 4)
    trials: Count = 400
    labels: Few = 4
    modulus: Few = 4
    ask: Annotated[Sequence[Kind], MinLen(1), Different()] = KINDS
    batch_tokens: Count = 4096

    def forms(self) -> dict[str, AggregateForm]:
        return {kind: AggregateForm(self.labels, self.modulus, kind) for kind in self.ask}

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        super().check(corpus, vocabulary, train_length)
        for form in self.forms().values():
            form.check(f"task.{self.name}", vocabulary, min(self.lengths(train_length)))
        corpus.check("validation", max(self.lengths(train_length)))

    def run(
        self, model: Model, corpus, vocabulary: Vocabulary, train_length: int, progress: Progress
    ) -> Result:
        stream, forms, ns = corpus.stream("validation"), self.forms(), self.lengths(train_length)
        recorder, counter = Recorder(), Counter(progress, self.trials * sum(ns) * len(forms))
        for n in ns:
            for protocol, form in forms.items():
                with recorder.at(protocol=protocol, length=n).within_range() as cell:
                    questions = form.questions(vocabulary, stream, SEED, n, 0, range(self.trials))
                    scores = score(model, questions, vocabulary, self.batch_tokens)
                    cell.answers(scores, {"drawn": questions.places["drawn"]})
                    cell.value("chance", form.most_frequent(n))
                    cell.value("guess", form.uncounted(questions))
                    if n == train_length:
                        cell.share("gate", scores["accuracy"][:, None])
                counter(n * self.trials)
        return recorder.by_gate()
