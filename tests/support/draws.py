"""Checksums of what is drawn: of training sequences, and of the contexts that tasks read.

draws.json lists the parts and tasks of the committed studies, of conf/data and of conf/task, each
with the checksum of its draws when its study was measured. A new part gets a line by hand.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from extrap.data.part import Part
from extrap.data.trials.base import Trials
from extrap.data.turns import Turns
from extrap.data.vocabulary import RecordLayout, Vocabulary
from extrap.runs.build import build
from extrap.tasks.base import Setting, Task
from extrap.tasks.diagnosis import inputs
from extrap.tasks.sinks import FORMS, Ask
from tests.support.hand import Texts, drawn_from, silent

CASES = json.loads(Path(__file__).with_suffix(".json").read_text())
ITEMS = 200


class Worded(Vocabulary):
    """A vocabulary whose records are lines `k: v`, within the turns of a dialogue."""

    layout, ordinals = RecordLayout((58,), (10,)), 8

    @property
    def turns(self) -> Turns:
        return Turns((self.bos, 1, 2), (3, 4))


def corpus() -> Texts:
    rng = np.random.default_rng(5)
    return Texts([rng.integers(32, 127, size=8300) for _ in range(64)])


def checksum(arrays) -> str:
    value = 0
    for array in arrays:
        value = zlib.crc32(np.ascontiguousarray(array, "<i8").tobytes(), value)
    return f"{value:08x}"


class Listener:
    """A model that keeps what it reads as a sum of checksums, one for each text, whatever their
    order; its answers follow from tokens and slots.
    """

    maskable, device = True, "cpu"

    def __init__(self, vocab: int):
        self.vocab = vocab
        self.heard = 0

    def _hear(self, tokens, change: str = "") -> None:
        for text in tokens.numpy().astype("<i8"):
            self.heard = (
                self.heard + zlib.crc32(text.tobytes(), zlib.crc32(change.encode()))
            ) % 2**32

    def __call__(self, tokens, last=None):
        self._hear(tokens)
        width = last or tokens.shape[1]
        slots = torch.arange(tokens.shape[1] - width, tokens.shape[1])
        said = (tokens[:, -width:] * 31 + slots * 7) % self.vocab
        return torch.zeros(len(tokens), width, self.vocab).scatter_(2, said[..., None], 1.0)

    def jumped(self, tokens, after, jump, last):
        self._hear(tokens, f"{after} {jump}")
        return self(tokens, last)

    def without(self, tokens, slot, last):
        self._hear(tokens, f"{slot}")
        return self(tokens, last)


def of_part(part: Part, vocabulary: Vocabulary, length: int) -> str:
    """Of ITEMS sequences: easy, half and hard ones."""
    stream, out = corpus().stream("validation"), []
    for difficulty in (0.0, 0.5, 1.0):
        for i in range(-(-ITEMS // (3 * part.size))):
            out += part.draw(drawn_from((7, i), vocabulary, stream, length), difficulty)
    return checksum(out)


def of_task(task: Task, vocabulary: Vocabulary, length: int) -> str:
    """Of all that the task gives a model to read."""
    model = Listener(vocabulary.size)
    task.run(model, Setting(corpus(), vocabulary, length), silent)
    return f"{model.heard:08x}"


def of_inputs(vocabulary: Vocabulary, length: int) -> str:
    """Of what the task diagnostics gives a model to read."""
    stream = corpus().stream("validation")
    made = [
        inputs.read(content, Trials(vocabulary, stream, n, range(20)))
        for content in inputs.CONTENTS
        for n in (length // 2 + 1, length)
    ]
    dummies = inputs.with_dummy(made[0], 3, vocabulary)
    return checksum([*(one.tokens.numpy() for one in made), dummies.numpy()])


def of_forms(forms: Sequence[Ask], vocabulary: Vocabulary, length: int) -> str:
    """Of questions about one record, which the task needle gives a model to read."""
    trials = Trials(vocabulary, corpus().stream("validation"), length, range(20))
    found = [inputs.with_record(FORMS[form], trials) for form in forms]
    return checksum(each.numpy() for one in found for each in one)


def drawn(case: Mapping[str, Any]) -> str:
    """The checksum of a case, as it is drawn now."""
    vocabulary = (Worded if case.get("worded") else Vocabulary)(**case["vocabulary"])
    if "part" in case:
        return of_part(build(case["part"], "data", kind=Part), vocabulary, case["length"])
    if "task" in case:
        return of_task(build(case["task"], "task", kind=Task), vocabulary, case["length"])
    if "forms" in case:
        return of_forms(case["forms"], vocabulary, case["length"])
    return of_inputs(vocabulary, case["length"])
