"""Retrieval heads: which heads look at the answer, and what is found without them?

metric     protocol, layer, head
copying    -, layer, head
           share of questions in which the key that the head looks at most is the value asked for
best       greatest copying of all heads
accuracy   whole | top_<k> | random_<k>
           answers that are right if the output of the k heads of the greatest copying at the
           shortest length is 0; of as many others, at random, mean over `draws`
change     top_<k> | random_<k>
           accuracy less the accuracy of the whole model, paired by question

Contexts are full of records, as in extrap.tasks.kv, with the asked one at depths spread evenly over
the questions. Values have 95 % t-intervals over questions. Source: arXiv 2606.21249.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from extrap.data.keyvalue import Records
from extrap.data.trials.base import Trials
from extrap.tasks.base import AtLengths, Counter, Diagnostic, Inside, Progress, Result, Setting
from extrap.tasks.diagnosis.inputs import Inputs, answered, gathered, read
from extrap.tasks.scoring.answers import NONE, likely, right
from extrap.tasks.scoring.recorder import Recorder
from extrap.utils.bounds import Count, Multiples, OneOrMore, Several

Head = tuple[int, int]
"""Layer and head."""


@dataclass(frozen=True, kw_only=True)
class RetrievalHeads(AtLengths, Diagnostic):
    """The task that finds the heads that look at the answer, and takes them out.

    Args:
        multiples: lengths over the training length, 1 among them
        inputs: questions of each length
        knocked: k
        draws: sets of random heads
        batch_tokens: tokens per forward

    A k of more than half of the heads has no rows, as no other heads are left to draw.
    """

    name: ClassVar[str] = "heads"
    needs_one: ClassVar[str] = "the run learned it"

    multiples: Multiples = (1, 2, 4)
    inputs: Several = 100
    knocked: OneOrMore[Count] = (1, 2)
    draws: Count = 4
    batch_tokens: Count = 4096

    def check(self, setting: Setting) -> None:
        super().check(setting)
        lengths = self.lengths(setting.length)
        option = f"task.{self.name}"
        for length in lengths:
            Records().check(option, setting.vocabulary, length)
        setting.corpus.check("validation", max(lengths))

    def run(self, model: Inside, setting: Setting, progress: Progress) -> Result:
        ns = self.lengths(setting.length)
        vocabulary = setting.vocabulary
        stream = setting.stream
        recorder = Recorder()
        counter = Counter(progress, sum(ns))
        ranked: list[Head] = []
        for n in ns:
            trials = Trials(vocabulary, stream, n, range(self.inputs))
            here = recorder.at(length=n)
            with here.within_range() as cells:
                inputs = read("records", trials)
                copying = self.copying(cells, model, inputs)
                if not ranked:
                    ranked = sorted(copying, key=copying.__getitem__, reverse=True)
                whole = answered(model, inputs, (), self.batch_tokens)
                cells.at(protocol="whole").mean("accuracy", whole)
                if n == setting.length:
                    cells.value("gate", whole.mean())
                for protocol, sets in self.sets(ranked):
                    each = [answered(model, inputs, heads, self.batch_tokens) for heads in sets]
                    without = np.mean(each, 0)
                    cell = cells.at(protocol=protocol)
                    cell.mean("accuracy", without)
                    cell.mean("change", without - whole)
            counter(n)
        return recorder.result(bool(recorder.passed))

    def copying(self, cells: Recorder, model: Inside, inputs: Inputs) -> dict[Head, float]:
        """Records and returns the copying score of every head."""

        def copied(tokens: Tensor, targets: Tensor) -> list[Tensor]:
            of_query = model.attention(tokens)[..., -1, :]
            looked_at = likely(of_query).cpu()  # (layers, B, H)
            layers = len(looked_at)
            of_layers = tokens.expand(layers, -1, -1)
            places = looked_at.clamp(min=0)
            said = of_layers.gather(2, places)
            named = said.where(looked_at != NONE, NONE)
            answers = targets[:, None]
            found = right(named.numpy(), answers.numpy())
            return [torch.from_numpy(found).transpose(0, 1)]

        (each,) = gathered(copied, self.batch_tokens, *inputs)
        heads = each.shape[1:]
        scores = {}
        for layer, head in np.ndindex(heads):
            shares = each[:, layer, head]
            cells.mean("copying", shares, layer=layer, head=head)
            scores[layer, head] = float(shares.mean())
        best = max(scores.values())
        cells.value("best", best)
        return scores

    def sets(self, ranked: list[Head]) -> Iterator[tuple[str, list[list[Head]]]]:
        """Yields protocols with their sets of heads."""
        for k in self.knocked:
            if 2 * k > len(ranked):
                continue
            top = ranked[:k]
            yield f"top_{k}", [top]
            rng = np.random.default_rng((k, len(ranked)))
            others = sorted(ranked[k:])
            drawn = []
            for _ in range(self.draws):
                chosen = rng.permutation(len(others))[:k]
                drawn.append([others[i] for i in chosen])
            yield f"random_{k}", drawn
