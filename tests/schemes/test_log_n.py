"""log-n scaling against published numbers; what is counted, and what is heated."""

from dataclasses import replace
from math import log

import pytest
import torch

from extrap.model.scheme import Scheme, Shape
from extrap.model.stack import Stack
from extrap.schemes.alibi import ALiBi
from extrap.schemes.log_n import LogN
from extrap.schemes.window import Window
from tests.support.scheme_case import at, causal, close, qkv, weights


def temperature(s: Scheme, T: int) -> torch.Tensor:
    return s.temperature(replace(at(s, T), sees=s.sees)).flatten()


def test_published_factors():
    c = temperature(LogN(Shape(4, 1, length=512)), 1024)
    assert float(c[1023]) == pytest.approx(1.111111, abs=1e-6)
    assert float(c[63]) == pytest.approx(0.666667, abs=1e-6)
    assert float(c[511]) == 1


def test_the_clipped_form_changes_nothing_up_to_the_training_length():
    c = temperature(LogN(Shape(4, 1, length=16), floor=1.0), 32)
    assert torch.equal(c[:16], torch.ones(16, dtype=torch.float64)) and (c[16:].diff() > 0).all()


def test_counts_the_keys_a_window_leaves():
    shape = Shape(4, 1, length=64)
    s = Stack(shape, [LogN(shape), Window(shape, 8)])
    assert temperature(s, 64)[7:].tolist() == pytest.approx([log(8) / log(64)] * 57)


def test_biases_are_not_heated():
    shape, T = Shape(16, 2, length=8), 20
    s = Stack(shape, [LogN(shape), ALiBi(shape)])
    q, k, _ = qkv(shape, T)
    place = at(s, T)
    logits = s.temperature(place) * (q @ k.transpose(-1, -2)) * s.scale + ALiBi(
        shape
    ).distance_bias(place.distance, 0)
    close(weights(s, q, k, place), causal(logits))
