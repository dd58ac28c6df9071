"""Exact match on readers that compute the answer, or part of it."""

import numpy as np
import torch

from extrap.data.computed import ADDITION, EQUALS, EXCHANGE, PARITY, PLUS, S5, SORT
from extrap.data.strings import COPY, FLIP_FLOP, REVERSE, TASKS, WRITE
from extrap.tasks.algorithmic import LengthGeneralisation
from tests.support import hand
from tests.support.hand import VOCABULARY as V
from tests.support.hand import Texts, measure, speak

TEXT = Texts([np.arange(500) % 251])


def task(**options):
    return LengthGeneralisation(
        **({"trials": 10, "longest": 8, "multiples": (0.5, 1, 2, 4), "ask": tuple(TASKS)} | options)
    )


def solve(row):
    """The rest of the answer to a string, by hand, not by the code under test."""
    mark = row[1] - V.key_ids.start
    body = row[2:]
    if mark in (COPY, REVERSE):
        end = body.index(row[1])
        symbols = body[:end]
        return (symbols if mark == COPY else symbols[::-1]) + [row[1]]
    if mark == SORT:
        return [*sorted(body[: body.index(row[1])]), row[1]]
    if mark == PARITY:
        return [V.value(body[:-1].count(V.value(1)) % 2)]
    if mark == ADDITION:
        hints = [t for t in body[: body.index(V.key(PLUS))] if t in V.key_ids]
        if hints:  # the sum without them, then one before every digit, the next after the last
            hints.append(hints[-1] + 1)
            answer = solve(row[:2] + [t for t in body if t not in hints])
            return [t for pair in zip(hints, answer, strict=True) for t in pair]
        plus, equals = body.index(V.key(PLUS)), body.index(V.key(EQUALS))
        a, b = (
            int("".join(str(d - V.value_ids.start) for d in reversed(digits)))
            for digits in (body[:plus], body[plus + 1 : equals])
        )
        digits = reversed(f"{a + b:0{plus + 1}}")
        return [V.value(int(d)) for d in digits]
    if mark == S5:
        things = list("abcde")  # by place
        for g in body[: body.index(row[1])]:
            if g == V.key(EXCHANGE):
                things[0], things[1] = things[1], things[0]
            else:
                things = things[-1:] + things[:-1]
        return [V.value(things.index(thing)) for thing in "abcde"]
    if mark == FLIP_FLOP:
        writes = [body[i + 1] for i in range(0, len(body) - 1, 2) if body[i] == V.key(WRITE)]
        return [writes[-1]]
    return [V.value(int(body[0] == body[-2]))]


def solver(upto=10**9):
    """Right on what is read within `upto` tokens, BOS otherwise."""

    def model(tokens, last):
        if tokens.shape[1] > upto:
            return torch.cat([speak(torch.full((len(tokens),), V.bos), V)] * last, 1)
        answers = torch.tensor([solve(row) for row in tokens.tolist()])
        assert answers.shape[1] == last
        return torch.cat([speak(answers[:, j], V) for j in range(last)], 1)

    return model


def cells(result, metric="accuracy"):
    return hand.cells(result, metric, "protocol", "at")


def test_who_computes_the_answer_is_right_at_every_length():
    result = measure(task(), solver(), TEXT, 64)
    for metric in ("accuracy", "token"):
        assert cells(result, metric) == {(name, n): 1.0 for name in TASKS for n in (4, 8, 16, 32)}
    assert {r["status"] for r in result.rows} == {"ok"}
    assert {r["value"] for r in result.rows if r["metric"] == "gate"} == {1.0}
    assert cells(result, "chance")["copy", 8] == 16.0**-8
    tokens = hand.cells(result, "accuracy", "protocol", "length")
    assert {length for name, length in tokens if name == "copy"} == {11, 19, 35, 67}


def test_one_wrong_token_breaks_the_match_and_not_the_rest():
    def model(tokens, last):
        logits = solver()(tokens, last)
        logits[:, 0] = -logits[:, 0]
        return logits

    result = measure(task(ask=["copy"]), model, TEXT, 64)
    assert set(cells(result).values()) == {0.0}
    assert cells(result, "token") == {("copy", n): n / (n + 1) for n in (4, 8, 16, 32)}
    assert {r["status"] for r in result.rows} == {"not trained"}


def test_the_gate_is_of_trained_lengths_and_of_each_task_alone():
    def model(tokens, last):
        known = tokens.shape[1] <= 28 and tokens[0, 1] != V.key(REVERSE)
        return solver()(tokens, last) if known else solver(0)(tokens, last)

    ask = [name for name in TASKS if TASKS[name].width(8) <= 28]
    result = measure(task(ask=ask), model, TEXT, 64)
    status = {r["protocol"]: r["status"] for r in result.rows}
    assert status == {name: "not trained" if name == "reverse" else "ok" for name in ask}


def test_the_gate_of_a_sparse_flip_flop_is_that_of_the_dense_one():
    def model(tokens, last):
        return speak(tokens[:, 3], V)

    result = measure(task(ask=["flip-flop-sparse"], trials=100), model, TEXT, 64)
    assert cells(result)["flip-flop-sparse", 8] > 0.9
    assert {(r["protocol"], r["status"]) for r in result.rows} == {
        ("flip-flop-sparse", "not trained")
    }
