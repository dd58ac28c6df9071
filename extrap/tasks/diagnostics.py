"""Why a run reads as it does: where attention and gradients go, by slot, position and distance, trained and untrained.

Protocols: `trained_records`, `untrained_records` (a context full of records, one asked for at the end) and `trained_text`,
`untrained_text`; `untrained_<k>_layers` (a model of k layers as it was drawn) and `untrained_unmasked` (without the causal mask, where
the scheme is defined without it), on the first of the contents; `trained`, `untrained` for numbers of the scheme alone.

metric                 axis, at                   layer, head   meaning (defined in extrap.tasks.diagnosis.attention_stats)
sink                                              layer, head   mean attention to token 0, rows from 8 on; sink_uniform if uniform
sink_rate                                                       share of (layer, head) with a sink above .3, arXiv 2410.10781
mass                   key 0 .. 15                layer         mean attention to a key, rows from 8 on; mass_uniform if uniform
entropy                keys m = 2, 4, 8 .. n      layer         H / ln m of the row that sees m keys
rollout                position                                 share of the last row of the product of (A + I) / 2 over layers
slot_mass              slot                       - or layer    attention of the query to a record, contents permuted over slots
gold_mass, dummy_mass  slot                                     to the record asked for, and to a dummy in its place
calibrated             slot                                     their difference, arXiv 2406.16008
influence              position                                 share of |d h_last / d x_j|, arXiv 2603.10123
.._primacy, .._recency, .._u                                    of both profiles: first and last tenth over the rest; their mean
gradient               distance 0, 1, 2, 4 .. n   .             share of |d logit / d x_j| within that distance, arXiv 2212.10356
reach                  share .5, .9, .99                        distance in tokens that holds the share
turns, coverage, bias  pair, pair, distance       -, -, both    of the scheme: extrap.tasks.diagnosis.measure_scheme

Values are means over inputs with a 95 % t-interval over them. Linear attention has weights of both signs: |a|, rows made to sum to 1.
A factor that a scheme puts on weights after the softmax (URPE) is not part of them.
"""

from collections.abc import Iterator, Sequence

from extrap.tasks.scoring.single_token import TRAINED
from extrap.data.keyvalue import most
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.diagnosis.inputs import CONTENTS, read
from extrap.tasks.diagnosis.measure_model import Look
from extrap.tasks.diagnosis.measure_scheme import tell_scheme
from extrap.tasks.diagnosis.recorder import Told
from extrap.utils.errors import UserError
from extrap.model.scheme import OutOfRange
from extrap.tasks.base import Diagnostic, Inside, Progress, Result, check_at_least, check_multiples, lengths


class Diagnostics(Diagnostic):
    """multiples: lengths over the training length; contents: of `records`, `text`; inputs: sequences of each; places: positions and
    slots that are told, evenly spread; probes: directions in which the Jacobian is measured (all of the width: exact); layers: depths
    of untrained models; batch_tokens: tokens per forward, whose attention matrices of all layers are in memory at once.
    """

    def __init__(
        self,
        multiples: Sequence[float] = (1, 2, 4),
        contents: Sequence[str] = CONTENTS,
        inputs: int = 32,
        places: int = 33,
        slots: int = 11,
        probes: int = 16,
        layers: Sequence[int] = (1, 2, 4, 8),
        batch_tokens: int = 2048,
    ):
        self.multiples, self.contents, self.inputs, self.places, self.slots = multiples, contents, inputs, places, slots
        self.probes, self.layers, self.batch_tokens = probes, layers, batch_tokens

    def check(self, corpus, vocabulary: Vocabulary, train_length: int) -> None:
        check_multiples("task.diagnostics.multiples", self.multiples, train_length)
        if 1 not in self.multiples:
            raise UserError(
                f"task.diagnostics.multiples={list(self.multiples)}: must hold 1, where trained and untrained models are compared"
            )
        for name, least in (("inputs", 2), ("places", 2), ("slots", 2), ("probes", 1), ("batch_tokens", 1)):
            check_at_least(f"task.diagnostics.{name}", getattr(self, name), least)
        if not self.contents or len({*self.contents}) < len(self.contents) or {*self.contents} - {*CONTENTS}:
            raise UserError(f"task.diagnostics.contents={list(self.contents)}: one or both of {', '.join(CONTENTS)}")
        for count in self.layers:
            check_at_least("task.diagnostics.layers", count, 1)
        longest = max(lengths(self.multiples, train_length))
        if "records" in self.contents and most(longest) >= vocabulary.keys:
            raise UserError(
                f"task.diagnostics.multiples={list(self.multiples)}: {longest} tokens hold {most(longest)} records and a dummy needs one "
                f"more key, but data.vocabulary.keys={vocabulary.keys}; give smaller multiples, or train with more keys"
            )
        corpus.check("validation", longest + 1)

    def run(self, model: Inside, corpus, vocabulary: Vocabulary, train_length: int, progress: Progress) -> Result:
        stream, told, sizes = corpus.stream("validation"), Told(), sorted(lengths(self.multiples, train_length))
        states, look = {"trained": model, "untrained": model.untrained()}, Look(self.places, self.probes, self.batch_tokens)
        first = read(self.contents[0], stream, vocabulary, train_length, self.inputs)
        plan = [(state, content, n) for state in states for content in self.contents for n in sizes]
        total, done = sum(n for *_, n in plan), 0
        for state, content, n in plan:
            here, glass = told.at(protocol=f"{state}_{content}", length=n), states[state]
            try:
                asked = read(content, stream, vocabulary, n, self.inputs)
                look.attention(here, glass, asked)
                look.gradients(here, glass, asked)
                if content == "records":
                    look.slots(here, glass, stream, vocabulary, n, self.inputs, self.slots)
            except OutOfRange:
                pass
            done += n
            progress(done, total)
        for name, glass in self._undone(model):
            look.influence(told.at(protocol=name, length=train_length), glass, first)
        for state, glass in states.items():
            tell_scheme(told.at(protocol=state), glass.scheme, states["trained"].trained_scheme, sizes)
        return Result(self._marked(told.rows, model, read("records", stream, vocabulary, train_length, 10 * self.inputs)))

    def _undone(self, model: Inside) -> Iterator[tuple[str, Inside]]:
        """Untrained models of other depths, and one without the causal mask; those that the scheme allows."""
        for layers in self.layers:
            try:
                yield f"untrained_{layers}_layers", model.untrained(layers)
            except (UserError, ValueError):
                continue
        if model.orderless:
            yield "untrained_unmasked", model.untrained(causal=False)

    @staticmethod
    def _marked(rows: list[dict], model: Inside, asked) -> list[dict]:
        """A run that did not learn retrieval has nothing to say about what the trained model does with records."""
        said = model(asked.tokens, last=1)[:, -1].argmax(-1).cpu()
        failed = {"trained_records"} if (said == asked.targets).double().mean() < TRAINED else set()
        return [row | {"status": "not trained" if row["protocol"] in failed else "ok"} for row in rows]
