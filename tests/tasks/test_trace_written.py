"""Chains written out, on readers whose accuracy is known exactly, and in training by a loop."""

import numpy as np
import pytest
import torch

from extrap.data.trace_written import TraceWrittenForm
from extrap.data.trials.base import Trials
from extrap.tasks.trace_written import WrittenTracking
from tests.support.hand import VOCABULARY, Texts, measure, values, written_answer

L = 32
TEXT = Texts([32 + np.arange(4000) % 26])


def task(**options):
    return WrittenTracking(**{"multiples": (0.75, 1, 2), "trials": 12, "hops": (0, 1, 2)} | options)


def saying(step):
    """A model that says step(records, key): what stands behind a token, each of the last ones."""

    def model(tokens, last):
        said = [
            [step(row[1 : len(row) - last], (key,)) for key in row[len(row) - last :]]
            for row in tokens.tolist()
        ]
        return torch.nn.functional.one_hot(torch.tensor(said), VOCABULARY.size).double()

    return model


def test_who_stops_after_one_hop_knows_chains_of_one():
    def once(context, query):
        """The last look-up of a longer chain is not made."""
        naming = [key for key in context if written_answer(context, (key,)) == query[0]]
        second = any(written_answer(context, (key,)) in naming for key in context)
        return VOCABULARY.bos if second else written_answer(context, query)

    found = values(measure(task(), saying(once), TEXT, L), "accuracy")
    for (protocol, *_), accuracy in found.items():
        assert accuracy == (protocol != "written-2")


@pytest.mark.parametrize("hops", [0, 1, 2])
def test_who_writes_a_chain_at_random_has_the_guess(hops):
    rng, asked = np.random.default_rng(0), TraceWrittenForm(hops)
    stream, n, rates = TEXT.stream("validation"), 4000, []
    for length in (24, 40):
        made = asked.questions(Trials(VOCABULARY, stream, length, range(n)), 0.5)
        drawn = made.values[np.arange(n), rng.integers(made.values.shape[1], size=n)]
        rates.append((drawn == made.answers).all(1).mean())
        assert rates[-1] == pytest.approx(asked.guess(VOCABULARY, length), abs=0.02)
    assert rates[0] > rates[1]
