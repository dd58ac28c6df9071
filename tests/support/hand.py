"""Corpora and models made by hand, whose scores are known before they are measured."""

from dataclasses import asdict
from itertools import pairwise

import numpy as np
import torch

from extrap.data.context import Context
from extrap.data.vocabulary import Vocabulary
from extrap.runs.build import build
from extrap.tasks.base import Setting
from extrap.utils.errors import UserError

VOCABULARY = Vocabulary(keys=64, values=16)


class Texts:
    """A corpus that is a list of documents."""

    name, option, cut, or_more = "texts", "data.corpus.path=texts", None, ""

    def __init__(self, documents):
        self.all = [np.asarray(d, np.uint16) for d in documents]

    def documents(self, split, at_least=0):
        assert split == "validation"
        return [d for d in self.all if len(d) >= at_least]

    def sizes(self, split, at_least=0):
        return [np.ones(len(d), np.uint8) for d in self.documents(split, at_least)]

    def stream(self, split):
        assert split == "validation"
        return np.concatenate(self.all)

    def check(self, split, at_least):
        if len(self.stream(split)) < at_least:
            raise UserError(f"{self.option}: too short")


def drawn_from(seed, vocabulary, stream, length):
    """The context of sequences and questions."""
    return Context(np.random.default_rng(seed), vocabulary, stream, length)


def writer(answer, opens, vocabulary=VOCABULARY):
    """A model that writes, byte by byte, what `answer(prompt)` gives for the text up to the last
    place where `opens` stands; then a line's end.
    """

    def model(tokens, last):
        out = torch.zeros(len(tokens), last, vocabulary.size)
        for b, row in enumerate(tokens.tolist()):
            for w, end in enumerate(range(len(row) - last + 1, len(row) + 1)):
                prompt, _, said = bytes(row[1:end]).decode().rpartition(opens)
                text = answer(prompt + opens)
                more = text.startswith(said) and len(text) > len(said)
                out[b, w, ord(text[len(said)] if more else "\n")] = 1
        return out

    return model


def silent(done, total):
    """No progress bar."""


def checked(task, options, corpus, vocabulary, train_length):
    """The check of a task with other options, built as the command line builds it."""
    setting = Setting(corpus, vocabulary, train_length)
    kind = type(task)
    node = {"_target_": f"{kind.__module__}.{kind.__name__}"} | asdict(task) | options
    build(node, f"task.{task.name}").check(setting)


def measure(task, model, corpus, train_length, vocabulary=VOCABULARY):
    setting = Setting(corpus, vocabulary, train_length)
    task.check(setting)
    return task.run(model, setting, silent)


def values(result, metric):
    """{(protocol, length): value} of one metric, or {(protocol, length, depth): value} where rows
    have a depth.
    """
    rows = [r for r in result.rows if r["metric"] == metric]
    return {
        (r["protocol"], r["length"]) + ((r["depth"],) if "depth" in r else ()): r["value"]
        for r in rows
    }


def cells(result, metric, *columns):
    """{values of the columns: value} of one metric, of the rows that have all these columns."""
    rows = [r for r in result.rows if r["metric"] == metric and r.keys() >= {*columns}]
    return {tuple(r[column] for column in columns): r["value"] for r in rows}


def bigram(log_p, tokens, last=None):
    """A reader of the last token only: logits are rows of log_p (vocab, vocab), the row of BOS
    included.
    """
    w = tokens.shape[1] if last is None else last
    return log_p[tokens[:, tokens.shape[1] - w :]]


def by_slot(loss, tokens, last=None):
    """The loss on token 0 at slot j (j tokens before it, BOS included) is loss[j]; for a text of
    nothing but zeros.
    """
    slots = torch.arange(tokens.shape[1])[-(last or tokens.shape[1]) :]
    logits = torch.full((len(tokens), len(slots), VOCABULARY.size), -torch.inf, dtype=torch.float64)
    logits[..., 0] = -loss[slots]
    logits[..., 1] = torch.log1p(-torch.exp(-loss[slots]))
    return logits


def speak(ids, vocabulary=VOCABULARY):
    """Logits (B, 1, vocab) that are highest at ids (B,)."""
    return torch.nn.functional.one_hot(torch.as_tensor(ids), vocabulary.size).double()[:, None]


def reader(sees, vocabulary=VOCABULARY, otherwise=None):
    """A model that finds the query key among the slots it sees and says what stands after it; else
    `otherwise` (BOS).

    sees(slot, length) tells which slots of the context are read.
    """

    def model(tokens, last):
        assert last == 1
        length = tokens.shape[1]
        slot = torch.arange(length - 1)
        found = (tokens[:, :-1] == tokens[:, -1:]) & sees(slot, length)
        at = found.double().argmax(1)
        said = torch.where(
            found.any(1),
            tokens[torch.arange(len(tokens)), at + 1],
            vocabulary.bos if otherwise is None else otherwise,
        )
        return speak(said, vocabulary)

    return model


def oracle(slot, length):
    return slot >= 0


def window(width):
    """The last `width` slots, the query among them."""
    return lambda slot, length: slot >= length - width


def nth_answer(context, query, vocabulary=VOCABULARY):
    """The value that (mark, key) asks for, by a loop over the records `k v` of a context."""
    order, key = query[0] - vocabulary.key_ids.start, query[1]
    values = [b for a, b in pairwise(context) if a == key and b in vocabulary.value_ids]
    rank = order if order < 8 else len(values) - (16 - order)
    return values[rank]


def trace_answer(context, query, vocabulary=VOCABULARY):
    """The value at the end of the chain of a key, by following the records `k x ;` of a context."""
    (key,) = query
    given = {a: b for a, b, c in zip(context, context[1:], context[2:], strict=False) if c == 59}
    while key in given:
        key = given[key]
    return key


def written_answer(context, query, vocabulary=VOCABULARY):
    """What stands behind the last token that was read, by following the records `k x ;`."""
    given = {a: b for a, b, c in zip(context, context[1:], context[2:], strict=False) if c == 59}
    return given.get(query[-1], 59)


def aggregate_answer(context, query, vocabulary=VOCABULARY, labels=4, modulus=4):
    """The answer about all labels of a context, by counting them one by one."""
    mark, first = query[0] - vocabulary.key_ids.start, vocabulary.value_ids.start
    seen = [t - first for t in context if t in vocabulary.value_ids]
    if mark >= 2:
        return first + labels + seen.count(mark - 2) % modulus
    part = seen[: len(seen) // 2] if mark == 1 else seen
    (most,) = (
        y
        for y in range(labels)
        if all(part.count(y) > part.count(z) for z in range(labels) if z != y)
    )
    return first + most


def solving(answer, asking, vocabulary=VOCABULARY):
    """A model that answers the query of `asking` tokens by answer(context, query, vocabulary)."""

    def model(tokens, last):
        assert last == 1
        said = [
            answer(row[1 : len(row) - asking], tuple(row[len(row) - asking :]), vocabulary)
            for row in tokens.tolist()
        ]
        return speak(said, vocabulary)

    return model


def eliminating(rng, vocabulary=VOCABULARY):
    """A model that names a value of the context that was not said yet, whatever key is asked."""

    def model(tokens, last):
        out = torch.zeros(len(tokens), last, vocabulary.size)
        for row, logits in zip(tokens.tolist(), out, strict=True):
            left = [t for t in row[:-last] if t in vocabulary.value_ids]
            for j in range(0, last, 2):
                if j:
                    left.remove(row[len(row) - last + j - 1])
                logits[j, left[rng.integers(len(left))]] = 1
        return out

    return model


def priced():
    """A model to which every token has a random price, and the prices (vocab,) in nats: of unique
    tokens, equal sums mean equal sets.
    """
    drawn = torch.Generator().manual_seed(0)
    price = torch.rand(VOCABULARY.size, dtype=torch.float64, generator=drawn).log()
    log_p = price - price.logsumexp(0)
    return lambda tokens, last: log_p.expand(len(tokens), last, -1), -log_p.numpy()
