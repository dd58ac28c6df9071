"""Loss by position on models whose loss at every position is known exactly."""

from functools import partial

import numpy as np
import pytest
import torch

from extrap.model.scheme import OutOfRange
from extrap.tasks.nll import NLL
from extrap.tasks.nll_position import NLLPosition, edges
from extrap.utils.errors import UserError
from tests.support.hand import VOCABULARY, Texts, bigram, by_slot, checked, measure
from tests.tasks.test_nll import chain

L, N = 8, 64
ZEROS = Texts(np.zeros((3, N)))


def curve(result, protocol, metric="nll"):
    """{(first, last position) of a bin: value}."""
    rows = [
        r for r in result.rows if r["protocol"] == protocol and r["metric"] == metric and "at" in r
    ]
    found = {}
    for row in rows:
        width = row["tokens"] // row["n"]
        found[row["at"] - (width - 1) / 2, row["at"] + (width - 1) / 2] = row["value"]
    return found


def past(result, protocol, metric="nll"):
    (row,) = (
        r
        for r in result.rows
        if r["protocol"] == protocol and r["metric"] == metric and "at" not in r
    )
    return row


def test_every_position_is_in_one_bin_and_the_training_length_is_a_border():
    for n, length, bins in ((64, 8, 4), (100, 8, 1), (512, 64, 4), (80, 64, 3), (30, 7, 2)):
        found = edges(n, length, bins)
        assert (
            found[0] == 1
            and found[-1] == n + 1
            and length + 1 in found
            and found == sorted(set(found))
        )
    assert edges(64, 8, 1) == [1, 2, 3, 5, 9, 17, 33, 65]


def test_a_loss_by_slot_is_read_off_exactly():
    """1 / (1 + j) nats with j slots before the last: full sees p - 1 of them, windowed at most L -
    1 and at least L - S.
    """
    loss = 1 / (1 + torch.arange(1, N + 1, dtype=torch.float64))
    result = measure(NLLPosition(multiples=(8,), documents=3), partial(by_slot, loss), ZEROS, L)
    assert {r["axis"] for r in result.rows if "at" in r} == {"position"}
    whole, slots = loss.numpy(), np.arange(N)
    windowed = np.where(
        slots < L, whole, whole[L - 1]
    )  # a stride of one eighth of eight tokens is one token
    for protocol, expected in (("full", whole), ("windowed", windowed)):
        found = curve(result, protocol)
        assert len(found) == len(edges(N, L, 4)) - 1
        for (first, last), value in found.items():
            assert value == pytest.approx(expected[int(first) - 1 : int(last)].mean(), abs=1e-12)
        assert past(result, protocol)["value"] == pytest.approx(expected[L:].mean(), abs=1e-12)
        assert past(result, protocol)["tokens"] == 3 * (N - L)


def test_wider_steps_starve_the_window():
    loss = 1 / (1 + torch.arange(1, N + 1, dtype=torch.float64))
    result = measure(
        NLLPosition(multiples=(8,), stride=0.5, documents=3), partial(by_slot, loss), ZEROS, L
    )
    assert past(result, "windowed")["value"] == pytest.approx(float(loss[4:8].mean()), abs=1e-12)


def test_a_reader_of_a_few_tokens_is_flat_past_them():
    loss = torch.zeros(N, dtype=torch.float64)
    loss[:4] = 1
    result = measure(NLLPosition(multiples=(8,), documents=3), partial(by_slot, loss), ZEROS, L)
    for protocol in ("full", "windowed"):
        assert {value for (first, _), value in curve(result, protocol).items() if first > 4} == {0}
        assert {value for (_, last), value in curve(result, protocol).items() if last <= 4} == {1}


def test_a_model_that_fails_past_its_training_length_fails_in_full_alone():
    loss = torch.full((N,), 0.5, dtype=torch.float64)
    loss[L:] = 3
    result = measure(NLLPosition(multiples=(8,), documents=3), partial(by_slot, loss), ZEROS, L)
    assert (past(result, "full")["value"], past(result, "windowed")["value"]) == pytest.approx(
        (3, 0.5)
    )


def test_the_loss_of_a_known_source_is_recovered_by_every_protocol_within_its_interval():
    """The entropy rate of the chain, by its definition, lies in the intervals of all five ways to
    score text.
    """
    text, log_p = chain(documents=40, seed=3)
    p = log_p[:4, :4].exp().numpy()
    stationary = np.linalg.matrix_power(p, 200)[0]
    rate = -(stationary[:, None] * p * np.log(p)).sum()
    model = partial(bigram, log_p)
    rows = measure(NLL(multiples=(4, 8), documents=40), model, Texts(text), L).rows
    rows += [
        past(measure(NLLPosition(multiples=(16,), documents=40), model, Texts(text), L), protocol)
        for protocol in ("full", "windowed")
    ]
    found = {(r["protocol"], r["length"]): r for r in rows if r["metric"] == "nll"}
    assert {protocol for protocol, _ in found} == {
        "nonoverlap",
        "sliding",
        "last_segment",
        "full",
        "windowed",
    }
    for (protocol, n), row in found.items():
        # One token in n has BOS alone before it and costs log 4.
        starved = (np.log(4) - rate) / n if protocol == "nonoverlap" else 0
        assert row["low"] - 0.01 <= rate + starved <= row["high"] + 0.01, protocol
        assert row["high"] - row["low"] < 0.2


def test_full_and_windowed_score_the_same_tokens_once():
    text = np.arange(2 * N).reshape(2, N)
    price = torch.rand(
        VOCABULARY.size, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    ).log()
    cost = (price.logsumexp(0) - price).numpy()
    result = measure(
        NLLPosition(multiples=(4, 8), documents=2),
        lambda t, last: (price - price.logsumexp(0)).expand(len(t), last, -1),
        Texts(text),
        L,
    )
    for item in (i for i in result.items if i["metric"] == "nll_sum"):
        assert item["value"] == pytest.approx(
            cost[text[item["item"], L : item["length"]]].sum(), abs=1e-12
        )
    assert {(i["protocol"], i["length"]) for i in result.items} == {
        (p, n) for p in ("full", "windowed") for n in (32, 64)
    }
    for row in result.rows:
        if "at" in row and row["metric"] == "nll" and row["length"] == 64:
            width = row["tokens"] // 2
            first = int(row["at"] - (width - 1) / 2) - 1
            assert row["value"] == pytest.approx(
                cost[text[:, first : first + width]].mean(), abs=1e-12
            )


def test_bits_per_byte_count_the_bytes_behind_the_tokens():
    class Twice(Texts):
        def sizes(self, split, at_least=0):
            return [np.full(len(d), 2, np.uint8) for d in self.documents(split, at_least)]

    result = measure(
        NLLPosition(multiples=(8,), documents=3),
        partial(by_slot, torch.full((N,), 2.0)),
        Twice(np.zeros((3, N))),
        L,
    )
    for protocol in ("full", "windowed"):
        found = list(curve(result, protocol, "bits_per_byte").values())
        assert found == pytest.approx([1 / np.log(2)] * len(found))


def test_past_a_table_only_windows_of_the_training_length_remain():
    def model(tokens, last):
        if tokens.shape[1] > L:
            raise OutOfRange("past the table")
        return torch.zeros(len(tokens), last, VOCABULARY.size)

    steps = []
    result = NLLPosition(multiples=(4, 8), documents=3).run(
        model, ZEROS, VOCABULARY, L, lambda done, total: steps.append((done, total))
    )
    assert {r["protocol"] for r in result.rows} == {"windowed"}
    assert steps == sorted(steps) and steps[-1][0] == steps[-1][1]


def test_batches_change_nothing_and_a_broken_loss_is_marked():
    text, log_p = chain()
    results = [
        measure(
            NLLPosition(multiples=(8,), documents=6, batch_tokens=b),
            partial(bigram, log_p),
            Texts(text),
            L,
        )
        for b in (1, 100, 10**6)
    ]
    assert all(r == results[0] for r in results)
    bad = measure(
        NLLPosition(multiples=(8,), documents=3),
        lambda t, last: torch.full((len(t), last, VOCABULARY.size), torch.nan),
        ZEROS,
        L,
    )
    assert {r["status"] for r in bad.rows} == {"diverged"} and not bad.items


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"multiples": []}, r"task\.nll-position\.multiples=\[\]"),
        (
            {"multiples": [1, 8]},
            r"task\.nll-position\.multiples=\[1, 8\]: every multiple must be above 1",
        ),
        ({"stride": 0}, r"task\.nll-position\.stride=0: "),
        ({"bins": 0}, r"task\.nll-position\.bins=0: "),
        ({"documents": 0}, r"task\.nll-position\.documents=0: "),
        (
            {"documents": 4},
            (
                r"data\.corpus\.path=texts: 3 validation documents have 64 "
                r".*task\.nll-position\.documents=4"
            ),
        ),
        ({"multiples": [9]}, r"data\.corpus\.path=texts: 0 .*72"),
    ],
)
def test_bad_input_is_one_line(options, message):
    with pytest.raises(UserError, match=message) as error:
        checked(NLLPosition(documents=3), options, ZEROS, VOCABULARY, L)
    assert "\n" not in str(error.value)
