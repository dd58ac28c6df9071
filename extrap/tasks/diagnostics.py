"""Why a run reads as it does: where attention and gradients go, by slot, position and distance,
trained and untrained.

Protocols: `trained_records`, `untrained_records` (a context full of records, one asked for at the
end) and `trained_text`, `untrained_text`; `untrained_<k>_layers` (a model of k layers as it was
drawn) and `untrained_unmasked` (without the causal mask, where the scheme is defined without it),
on the first of the contents; `trained`, `untrained` for numbers of the scheme alone.

metric                 axis, at                   layer, head
                       meaning (defined in extrap.tasks.diagnosis.attention_stats)

sink                                              layer, head
                       mean attention to token 0, rows from 8 on
sink_rate
                       share of (layer, head) with a sink above .3, arXiv 2410.10781
mass                   key 0 .. 15                layer
                       mean attention to a key, rows from 8 on; mass_uniform if uniform
entropy                keys m = 2, 4, 8 .. n      layer
                       H / ln m of the row that sees m keys
cosine                                            layer
                       of the mean query and the mean key, mean over heads, arXiv 2603.18017;
                       no row where a map of distances turns them for several zones
rollout                position
                       share of the last row of the product of (A + I) / 2 over layers
slot_mass              slot                       - or layer
                       attention of the query to a record, contents permuted over slots
gold_mass, dummy_mass  slot
                       to the record asked for, and to a dummy in its place
calibrated             slot
                       their difference, arXiv 2406.16008
influence              position
                       share of |d h_last / d x_j|, arXiv 2603.10123
.._primacy, .._recency, .._u
                       of both profiles: first and last tenth over the rest; their mean
gradient               distance 0, 1, 2, 4 .. n   .
                       share of |d logit / d x_j| within that distance, arXiv 2212.10356
reach                  share .5, .9, .99
                       distance in tokens that holds the share
turns, coverage, bias  pair, pair, distance       -, -, both
                       of the scheme: extrap.tasks.diagnosis.measure_scheme

Values are means over inputs with a 95 % t-interval over them. Linear attention has weights of both
signs: |a|, rows made to sum to 1. A factor that a scheme puts on weights after the softmax (URPE)
is not part of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Annotated, ClassVar, Literal

import numpy as np

from extrap.data.keyvalue import most
from extrap.data.trials.base import Trials
from extrap.tasks.base import AtLengths, Counter, Diagnostic, Inside, Progress, Result, Setting
from extrap.tasks.diagnosis.attention_stats import FIRST
from extrap.tasks.diagnosis.inputs import CONTENTS, Inputs, answered, read
from extrap.tasks.diagnosis.measure_model import ModelMeasures
from extrap.tasks.diagnosis.measure_scheme import measure_scheme
from extrap.tasks.scoring.recorder import TRAINED, Recorder
from extrap.utils.bounds import Count, Different, Multiples, OneOrMore, Several
from extrap.utils.errors import UserError


@dataclass(frozen=True, kw_only=True)
class Diagnostics(AtLengths, Diagnostic):
    """The task that measures attention and gradients by slot, position and distance.

    Args:
        multiples: lengths over the training length, that length or all within it
        contents: of `records`, `text`
        inputs: sequences of each
        places: positions that are recorded, evenly spread
        slots: places of the record asked for, evenly spread from the start to the end
        probes: directions in which the Jacobian is measured (all of the width: exact)
        layers: depths of untrained models
        batch_tokens: tokens per forward, whose attention matrices of all layers are in memory at
            once
    """

    name: ClassVar[str] = "diagnostics"
    needs_one: ClassVar[str] = "trained and untrained models differ"
    within: ClassVar[bool] = True

    multiples: Multiples = (1, 2, 4)
    contents: OneOrMore[Literal["records", "text"]] = CONTENTS
    inputs: Several = 32
    places: Several = 33
    slots: Several = 11
    probes: Count = 16
    layers: Annotated[Sequence[Count], Different()] = (1, 2, 4, 8)
    batch_tokens: Count = 2048

    def check(self, setting: Setting) -> None:
        super().check(setting)
        ns = self.lengths(setting.length)
        shortest = ns[0]
        longest = ns[-1]
        if shortest <= FIRST:
            problem = f"attention is measured after the first {FIRST} of {shortest} tokens"
            raise self.error("multiples", problem, "give greater multiples")
        if "records" in self.contents:  # the tokens of a checkpoint have no keys
            keys = setting.vocabulary.keys
            records = most(longest)
            if records >= keys:
                held = f"{longest} tokens hold {records} records and a dummy"
                problem = f"{held}, more than data.vocabulary.keys={keys}"
                raise self.error("multiples", problem, "give smaller multiples")
        setting.corpus.check("validation", longest + 1)

    def run(self, model: Inside, setting: Setting, progress: Progress) -> Result:
        ns = self.lengths(setting.length)
        known = self.gate_length(setting.length)
        drawn = partial(Trials, setting.vocabulary, setting.stream)
        items = range(self.inputs)
        models = {"trained": model, "untrained": model.untrained()}
        measures = ModelMeasures(self.places, self.probes, self.batch_tokens)
        plan = [*product(models, self.contents, ns)]
        total = sum(n for *_, n in plan)
        recorder = Recorder()
        counter = Counter(progress, total)
        depths = np.linspace(0, 1, self.slots)
        for kind, content, n in plan:
            inside = models[kind]
            here = recorder.at(protocol=f"{kind}_{content}", length=n)
            with here.within_range() as cells:
                trials = drawn(n, items)
                inputs = read(content, trials)
                measures.attention(cells, inside, inputs)
                measures.clusters(cells, inside, inputs)
                measures.gradients(cells, inside, inputs)
                if content == "records":
                    measures.slots(cells, inside, trials, depths)
            counter(n)
        first = read(self.contents[0], drawn(known, items))
        for protocol, untrained in self._undone(model):
            at = recorder.at(protocol=protocol, length=known)
            measures.influence(at, untrained, first)
        for kind, inside in models.items():
            at = recorder.at(protocol=kind)
            measure_scheme(at, inside.scheme, model.trained_scheme, ns)
        if "records" not in self.contents:
            return recorder.result()
        several = range(10 * self.inputs)
        records = read("records", drawn(known, several))
        learned = _learned(model, records, self.batch_tokens)
        # else the trained model says nothing about records
        return recorder.result(lambda protocol: learned or protocol != "trained_records")

    def _undone(self, model: Inside) -> Iterator[tuple[str, Inside]]:
        """Yields untrained models of other depths and without the mask, if the scheme allows."""
        for layers in self.layers:
            try:
                yield f"untrained_{layers}_layers", model.untrained(layers)
            except (UserError, ValueError):
                continue
        if model.orderless:
            yield "untrained_unmasked", model.untrained(causal=False)


def _learned(model: Inside, records: Inputs, batch_tokens: int) -> bool:
    """True if the model finds as many of the records asked for as the gate of a task wants."""
    correct = answered(model, records, (), batch_tokens)
    return bool(correct.mean() >= TRAINED)
