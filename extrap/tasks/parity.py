"""Whether an engine serves the model that it should: both read the same trials.

    text       windows of held-out text, BOS first; every token is scored (if the engine scores
               prompts)
    records    key-value records; the engine's answer is scored by both

apart is the mean of |log p(engine) - log p(reference)|, nats a token, of one and the same id.
Rounding of half precision makes one or two hundredths of it. An engine that drops a factor, turns
the wrong layers, adds a token or cuts the prompt makes more, at some lengths and depths only.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, ClassVar

import numpy as np
import torch
from annotated_types import Gt, MinLen

from extrap.data.corpora.base import Source
from extrap.data.keyvalue import Records
from extrap.data.trials.base import Trials
from extrap.tasks.base import (
    AtLengths,
    Counter,
    Model,
    Progress,
    Result,
    Setting,
    batches,
    losses_of,
)
from extrap.tasks.scoring.answers import NONE
from extrap.tasks.scoring.recorder import Cell, Recorder, recorded
from extrap.utils.bounds import Count, Depths, Multiples

BINS = 8
"""Depths at which the tokens of a text are pooled."""
Two = Annotated[int, Gt(1)]


@dataclass(frozen=True, kw_only=True)
class EngineParity(AtLengths):
    """An engine compared with its model, on the same ids.

    Args:
        multiples: lengths over the training length
        depths: of the record asked for
        trials: contexts of records
        documents: windows of text at most
        tolerance: nats a token above which both count as apart
        batch_tokens: tokens of the reference per forward

    Rows of each protocol and length, and of each depth:

    apart     as above, with a 95 % interval over documents or trials
    change    the same without | |: below 0 where the engine finds the text less likely
    same      records: share of trials in which both give the same answer
    from      the first length that is apart; no row if none is

    One line says from which length, at which depth and by how much they part, and at which lengths
    nothing could be compared.
    """

    name: ClassVar[str] = "parity"
    words: ClassVar[bool] = True
    asks: ClassVar = "reference"

    multiples: Multiples = (0.25, 0.5, 1)
    depths: Annotated[Depths, MinLen(1)] = (0, 0.25, 0.5, 0.75, 1)
    trials: Two = 4
    documents: Two = 4
    tolerance: Annotated[float, Gt(0)] = 0.05
    batch_tokens: Count = 4096

    def check_source(self, source: Source, train_length: int) -> None:
        longest = max(self.lengths(train_length))
        if source.longest is not None and source.longest < longest:
            problem = f"no validation document has {longest} tokens or more"
            remedy = f"raise data.corpus.document_tokens={source.longest}, or give shorter lengths"
            raise self.error("multiples", problem, remedy)

    def check(self, setting: Setting) -> None:
        super().check(setting)
        lengths = self.lengths(setting.length)
        longest = max(lengths)
        documents = setting.corpus.documents("validation", at_least=longest)
        if not len(documents):
            problem = f"no validation document has {longest} tokens or more"
            raise self.error("multiples", problem, "give more text, or shorter lengths")
        vocabulary = setting.vocabulary
        records = Records(layout=vocabulary.layout)
        for length in lengths:
            records.check(f"task.{self.name}", vocabulary, length)

    def run(self, model: Model, setting: Setting, progress: Progress) -> Result:
        vocabulary = setting.vocabulary
        stream = setting.stream
        plan = []
        for n in self.lengths(setting.length):
            if hasattr(model, "losses"):
                tokens, targets = self._windows(setting, n)
                where = {"protocol": "text", "length": n}
                of_text = self._text(model, tokens, targets)
                plan.append(Cell(where, tokens.numel(), of_text))
            trials = Trials(vocabulary, stream, n, range(self.trials))
            cost = self.trials * n * len(self.depths)
            where = {"protocol": "records", "length": n}
            of_records = self._records(model, trials)
            plan.append(Cell(where, cost, of_records))
        recorder = recorded(plan, progress)
        self._say(recorder, plan)
        return recorder.result()

    def _windows(self, setting: Setting, n: int) -> tuple[torch.Tensor, torch.Tensor]:
        documents = setting.corpus.documents("validation", at_least=n)
        known = len(documents)
        count = min(self.documents, known)
        chosen = [i * known // count for i in range(count)]
        texts = [documents[i][:n] for i in chosen]
        targets = torch.from_numpy(np.stack(texts).astype(np.int64))
        bos = torch.full_like(targets[:, :1], setting.vocabulary.bos)
        tokens = torch.cat([bos, targets[:, :-1]], 1)
        return tokens, targets

    def _text(self, model: Model, tokens: torch.Tensor, targets: torch.Tensor) -> Any:
        def measure(cells: Recorder, counter: Counter) -> None:
            windows, n = tokens.shape
            found = []
            said = model.losses(tokens, targets)
            for rows in batches(windows, n, self.batch_tokens):
                read = tokens[rows]
                reference = losses_of(model.reference, read, targets[rows])
                apart = reference.cpu().double() - said[rows]
                found.append(apart.numpy())
                counter(read.numel())
            change = np.concatenate(found)
            _record(cells, change)
            for depth, part in _bins(change):
                _record(cells.at(depth=depth), part)

        return measure

    def _records(self, model: Model, trials: Trials) -> Any:
        form = Records(layout=trials.vocabulary.layout)

        def measure(cells: Recorder, counter: Counter) -> None:
            every = []
            for depth in self.depths:
                questions = form.questions(trials, depth)
                tokens = torch.from_numpy(questions.tokens)
                count, n = tokens.shape
                said, scores = model.greedy(tokens.tolist(), [1] * count)
                logits = []
                for rows in batches(count, n, self.batch_tokens):
                    of_last = model.reference(tokens[rows], last=1)[:, -1]
                    logits.append(of_last.cpu().double())
                counter(tokens.numel())
                likely = torch.cat(logits).log_softmax(-1)
                same = (likely.argmax(-1) == said[:, 0]).double()
                same[likely.isnan().any(-1) | (said[:, 0] == NONE)] = torch.nan
                change = (scores - likely.gather(1, said.clamp(0))).numpy()
                every.append(change)
                cell = cells.at(depth=depth)
                cell.proportion("same", same.numpy())
                _record(cell, change)
            _record(cells, np.concatenate(every, 1))

        return measure

    def _say(self, recorder: Recorder, plan: Sequence[Cell]) -> None:
        found = [row for row in recorder.rows if row["metric"] == "apart"]
        whole = [row for row in found if "depth" not in row]
        parted = [row for row in found if row["value"] > self.tolerance]
        if not whole:
            line = "nothing is compared: no text has scores of both the engine and its model"
        elif not parted:
            most = max(row["value"] for row in whole)
            line = f"the engine and its model agree, to {most:.2g} nats a token"
        else:
            first = min(row["length"] for row in parted)
            recorder.value("from", first)
            there = [row for row in parted if row["length"] == first]
            at_depths = [row for row in there if "depth" in row]
            deep = max(at_depths, key=lambda row: row["value"])
            value = deep["value"]
            low = deep.get("low", value)
            high = deep.get("high", value)
            where = f"from {first} tokens on, most at depth {deep['depth']:.2g} of "
            apart = f"{deep['protocol']}: {value:.2g} nats ({low:.2g} to {high:.2g})"
            line = f"the engine parts from its model {where}{apart}"
        silent = _silent(plan, whole) if whole else ""
        warnings.warn(f"task.{self.name}: {line}{silent}", UserWarning, stacklevel=2)


def _silent(plan: Sequence[Cell], whole: Sequence[dict]) -> str:
    """Returns the end of a line: the cells without a score of both, by protocol and length."""
    compared = {(row["protocol"], row["length"]) for row in whole}
    lost: dict[str, list[int]] = {}
    for protocol, length in sorted((cell.where["protocol"], cell.where["length"]) for cell in plan):
        if (protocol, length) not in compared:
            lost.setdefault(protocol, []).append(length)
    line = ""
    for protocol, lengths in lost.items():
        read = [length for of, length in compared if of == protocol]
        first = lengths[0]
        named = ", ".join(map(str, lengths))
        where = f"from {first} tokens on" if max(read, default=0) < first else f"at {named} tokens"
        line += f"; {where} nothing can be said of {protocol}: one of the two gives no number"
    return line


def _bins(change: np.ndarray) -> Iterator[tuple[float, np.ndarray]]:
    """Yields the middle of each bin of a text, as a depth, and its tokens."""
    n = change.shape[1]
    edges = np.linspace(0, n, BINS + 1).round().astype(int)
    for k, (start, stop) in enumerate(pairwise(edges)):
        if start < stop:
            depth = (k + 0.5) / BINS
            yield depth, change[:, start:stop]


def _record(cell: Recorder, change: np.ndarray) -> None:
    """Records rows of changes (texts, tokens), of texts that have a score."""
    finite = np.isfinite(change).all(1)
    scored = change[finite]
    if len(scored):
        tokens = scored.shape[1]
        apart = np.abs(scored).sum(1)
        cell.per_token("apart", apart, tokens)
        cell.per_token("change", scored.sum(1), tokens)
