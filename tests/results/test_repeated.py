"""Stretches of the scored text that stand in the training text."""

import numpy as np
import pytest

from extrap.data.corpora.base import Corpus
from extrap.data.corpora.token_map import Stream
from extrap.studies.grid.repeated import SIZES, repeated


def test_the_share_is_that_of_a_double_loop():
    random = np.random.default_rng(0)
    train = random.integers(0, 256, 500).astype("u1")
    scored = random.integers(0, 256, 300).astype("u1")
    scored[100:140] = train[50:90]
    corpus = Corpus(
        "x",
        "x",
        "",
        {
            k: Stream(t, np.array([0, len(t)]), None)
            for k, t in zip(("train", "validation"), (train, scored), strict=True)
        },
    )
    for n in SIZES:
        here = [bytes(scored[i : i + n]) in bytes(train) for i in range(len(scored) - n + 1)]
        assert repeated(corpus)[n] == pytest.approx(np.mean(here))
    assert repeated(corpus)[16] == pytest.approx(25 / 285)
