"""The inputs of the diagnostics: text, or records with a question about one of them at the end."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from extrap.data.context import Context
from extrap.data.keyvalue import Records
from extrap.data.text import Text
from extrap.data.trials.base import SEED, Form, Trials
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.base import Inside, batches
from extrap.tasks.scoring.answers import hits

CONTENTS = ("records", "text")


def gathered(
    measure: Callable[..., Sequence[Tensor]], batch_tokens: int, *inputs: Tensor
) -> list[Tensor]:
    """Returns the outputs of `measure`, each (N, ...) float64, for all inputs, batch by batch."""
    n, length = inputs[0].shape
    found = []
    for here in batches(n, length, batch_tokens):
        part = [each[here] for each in inputs]
        outputs = measure(*part)
        found.append([output.double().cpu() for output in outputs])
    by_output = zip(*found, strict=True)
    return [torch.cat(parts) for parts in by_output]


class Inputs(NamedTuple):
    """tokens (N, n), and the right token after each (N,)."""

    tokens: Tensor
    targets: Tensor


def read(content: str, trials: Trials) -> Inputs:
    """Returns sequences of BOS and text, or of records with the asked one at depths spread evenly
    over the sequences.
    """
    if content == "text":
        rng = np.random.default_rng((SEED, trials.length))
        context = Context(rng, trials.vocabulary, trials.stream, trials.length)
        text = Text(size=len(trials.items))
        drawn, _ = text.draw(context, 1.0)
        windows = torch.from_numpy(drawn)
        return Inputs(windows[:, :-1], windows[:, -1])
    each = []
    depths = np.linspace(0, 1, len(trials.items))
    for item, depth in zip(trials.items, depths, strict=True):
        one = replace(trials, items=[item])
        each.append(records(one, depth))
    tokens, targets = zip(*each, strict=True)
    return Inputs(torch.cat(tokens), torch.cat(targets))


class WithRecord(NamedTuple):
    """tokens (N, n), the right token after each (N,), and which tokens are of the record asked for,
    (N, n) bool.
    """

    tokens: Tensor
    targets: Tensor
    own: Tensor


def with_record(form: Form, trials: Trials) -> WithRecord:
    """Returns questions about one record `k v`, at depths spread evenly over the questions."""
    tokens = []
    targets = []
    own = []
    back = trials.length - 1 - torch.arange(trials.length)
    depths = np.linspace(0, 1, len(trials.items))
    for item, depth in zip(trials.items, depths, strict=True):
        one = form.questions(replace(trials, items=[item]), depth)
        tokens.append(torch.from_numpy(one.tokens))
        targets.append(torch.from_numpy(one.answers[:, 0]))
        key = back == one.distance
        value = back == one.distance - 1
        own.append(key | value)
    return WithRecord(torch.cat(tokens), torch.cat(targets), torch.stack(own))


def answered(
    model: Inside, inputs: Inputs, silent: Collection[tuple[int, int]], batch_tokens: int
) -> np.ndarray:
    """Returns which questions (N,) are answered if the output of these (layer, head) is 0."""

    def right(tokens: Tensor, targets: Tensor) -> list[Tensor]:
        if silent:
            logits = model.silenced(tokens, silent, last=1)
        else:
            logits = model(tokens, last=1)
        correct = hits(logits[:, -1], targets.numpy())
        return [torch.from_numpy(correct)]

    (found,) = gathered(right, batch_tokens, *inputs)
    return found.numpy()


def records(trials: Trials, depth: float) -> Inputs:
    """Returns contexts full of records with a question about the record at `depth`; keys and values
    are random, so that contents are permuted over slots.
    """
    questions = Records().questions(trials, depth)
    tokens = torch.from_numpy(questions.tokens)
    targets = torch.from_numpy(questions.answers[:, 0])
    return Inputs(tokens, targets)


def with_dummy(inputs: Inputs, at: int, vocabulary: Vocabulary) -> Tensor:
    """Returns the tokens with another record, which no question is about, at slot `at`. Needs a key
    that is not in the context.
    """
    tokens = inputs.tokens.numpy().copy()
    first_key = 1 + tokens.shape[1] % 2
    key = first_key + 2 * at
    for i, row in enumerate(tokens):
        free = np.setdiff1d(vocabulary.key_ids, row)
        row[key] = free[i % len(free)]
        value = row[key + 1] - vocabulary.value_ids.start
        following = (value + 1) % vocabulary.values
        row[key + 1] = vocabulary.value(following)
    return torch.from_numpy(tokens)


def slots(row: Tensor) -> Tensor:
    """Returns (..., records): attention (..., n) of the query, summed over key and value."""
    first = 1 + row.shape[-1] % 2
    of_records = row[..., first:-1]
    keys_and_values = of_records.unflatten(-1, (-1, 2))
    return keys_and_values.sum(-1)
