"""Loss by three protocols on models whose loss is known exactly."""

from functools import partial

import numpy as np
import pytest
import torch

from extrap.tasks.nll import NLL
from extrap.utils.errors import UserError
from tests.support.hand import VOCABULARY, Texts, bigram, by_slot, measure, priced, values

L = 8
PROTOCOLS = ("nonoverlap", "sliding", "last_segment")
ALL = (1, 1.25, 1.5, 2, 4, 8, 16)
LENGTHS = (8, 10, 12, 16, 32, 64, 128)


def chain(documents=6, tokens=300, seed=0):
    """Documents of a Markov chain over four symbols, and the logits of its bigram model."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(4), 4)
    text = np.zeros((documents, tokens), int)
    for t in range(1, tokens):
        text[:, t] = (
            (rng.random(documents)[:, None] > p[text[:, t - 1]].cumsum(1)).sum(1).clip(max=3)
        )
    log_p = torch.full((VOCABULARY.size, VOCABULARY.size), -torch.inf, dtype=torch.float64)
    log_p[:4, :4] = torch.from_numpy(np.log(p))
    log_p[VOCABULARY.bos, :4] = -np.log(4)
    return text, log_p


def test_the_same_tokens_are_scored_at_every_length():
    text = np.arange(2 * 64).reshape(2, 64)
    model, cost = priced()
    result = measure(NLL(multiples=(1, 1.25, 1.5, 2, 4), documents=2), model, Texts(text), L)
    scored = {"nonoverlap": text[:, 32:], "sliding": text[:, 32:], "last_segment": text[:, 60:]}
    sums = {
        (i["protocol"], i["length"], i["item"]): i["value"]
        for i in result.items
        if i["metric"] == "nll_sum"
    }
    assert len(sums) == 3 * 5 * 2
    for (protocol, _, item), value in sums.items():
        assert value == pytest.approx(cost[scored[protocol][item]].sum(), abs=1e-12)
    for row in result.rows:
        assert row["tokens"] == scored[row["protocol"]].size
        assert row["n"] == 2
        assert row["status"] == "ok"
    tokens = [i for i in result.items if i["metric"] == "tokens"]
    assert all(i["value"] == len(scored[i["protocol"]][i["item"]]) for i in tokens)
    assert len(tokens) == len(sums)


@pytest.mark.parametrize(
    ("cut", "of_each", "lengths", "advice"),
    [
        (40, 1, [40, 40, 9], "raise data.corpus.document_tokens=40"),
        (160, 4, [40, 40, 9], "raise data.corpus.document_tokens=160"),  # of bytes: prose
        (160, 4, [40, 128, 9], "raise data.corpus.document_tokens=160"),
        (100, 1, [40, 40, 9], "give more text"),
        (400, 1, [40, 400, 9], "give more text"),
    ],
)
def test_too_few_long_documents_say_what_helps(cut, of_each, lengths, advice):
    corpus = Texts([np.zeros(length) for length in lengths])
    corpus.cut = cut
    corpus.sizes = lambda split: [np.full(length, of_each, np.uint8) for length in lengths]
    with pytest.raises(UserError, match=f"documents=3 are wanted: {advice}"):
        measure(NLL(multiples=(1, 8), documents=3), None, corpus, L)


def test_a_model_may_give_its_losses_itself():
    """What it gives is what is scored, and its logits are not asked for."""
    text, log_p = chain()

    class Given:
        def losses(self, tokens, targets):
            whole = torch.cat([tokens, targets[:, -1:]], 1)[:, -targets.shape[1] - 1 :]
            return -log_p[whole[:, :-1], whole[:, 1:]]

    task = NLL(multiples=(1, 2, 4), documents=6)
    given, plain = (
        measure(task, model, Texts(text), L) for model in (Given(), partial(bigram, log_p))
    )
    assert [row["value"] for row in given.rows] == pytest.approx(
        [row["value"] for row in plain.rows], abs=1e-12
    )


def test_a_loss_that_falls_with_context_gives_the_sums_of_hand():
    """1 / (1 + j) nats at slot j: harmonic numbers. 10 and 12 end with a shorter window or step."""
    loss = 1 / (1 + torch.arange(1, 129, dtype=torch.float64))
    h = np.concatenate([[0], loss.cumsum(0).numpy()])
    found = values(
        measure(
            NLL(multiples=ALL, documents=2), partial(by_slot, loss), Texts(np.zeros((2, 256))), L
        ),
        "nll",
    )
    for n in LENGTHS:
        whole, rest = divmod(128, n)
        assert found["nonoverlap", n] == pytest.approx((whole * h[n] + h[rest]) / 128, abs=1e-12)
        step = round(n / 8)
        whole, rest = divmod(128, step)
        assert found["sliding", n] == pytest.approx(
            (whole * (h[n] - h[n - step]) + h[n] - h[n - rest]) / 128, abs=1e-12
        )
        assert found["last_segment", n] == pytest.approx((h[n] - h[n - 4]) / 4, abs=1e-12)


def test_half_precision_logits_are_summed_in_single():
    logits = torch.linspace(-3, 3, VOCABULARY.size).bfloat16()
    found = values(
        measure(
            NLL(multiples=(1,), documents=1),
            lambda t, last: logits.expand(len(t), last, -1),
            Texts(np.zeros((1, 16))),
            L,
        ),
        "nll",
    )
    expected = float(logits.double().logsumexp(0) - logits[0].double())
    assert list(found.values()) == pytest.approx([expected] * 3, rel=1e-6)
