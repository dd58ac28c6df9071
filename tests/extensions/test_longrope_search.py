"""The search for LongRoPE's factors: a known valley, its limits, and a run from
training to rows.
"""

import shlex
from math import inf, log, nan

import pytest
import torch

from extrap.cli import longrope
from extrap.extensions import longrope_search as search
from extrap.extensions.longrope import LongRoPE
from extrap.model.spectrum import frequencies_used, pairs
from extrap.results import rows
from extrap.runs.evaluate import evaluate, trained_model
from extrap.runs.train import train
from extrap.utils.errors import UserError
from tests.support.extension_case import row
from tests.support.jobs import TINY, job
from tests.support.scheme_case import close


def valley(*target: float):
    return lambda factors: sum((log(f) - log(t)) ** 2 for f, t in zip(factors, target, strict=True))


def test_finds_a_valley_up_to_its_step():
    loss = valley(1.0, 1.5, 4.0, 8.0)
    found, value = search.search(loss, [[8.0] * 4, [1.0] * 4], most=10.0)
    assert value == loss(found) < 0.1
    assert found == sorted(found) and min(found) >= 1 and max(found) <= 10


def test_factors_never_decrease_with_the_pair():
    found, _ = search.search(valley(9.0, 1.0, 1.0, 1.0), [[1.0] * 4], most=10.0)
    assert found == sorted(found)
    assert search.moved([1.0, 2.0, 3.0, 4.0], 1, 3.5, 10) == [1.0, 3.5, 3.5, 4.0]
    assert search.moved([1.0, 2.0, 3.0, 4.0], 2, 1.5, 10) == [1.0, 1.5, 1.5, 4.0]
    assert search.moved([1.0, 2.0], 1, 99.0, 10) == [1.0, 10] and search.moved(
        [2.0, 2.0], 0, 0.1, 10
    ) == [1.0, 2.0]


def test_never_worse_than_the_best_start_and_deaf_to_losses_that_are_no_numbers():
    def loss(factors):
        return 1.0 if factors == [2.0, 2.0] else nan if factors[0] > 2 else inf

    assert search.search(loss, [[1.0, 1.0], [2.0, 2.0]], most=10.0) == ([2.0, 2.0], 1.0)


def test_loss_of_texts():
    """Uniform logits lose ln V at every token, in batches of any size."""
    texts = torch.arange(60).view(6, 10)
    assert search.text_loss(lambda x: torch.zeros(*x.shape, 61), texts) == pytest.approx(log(61))


@pytest.mark.usefixtures("elsewhere")
def test_from_a_run_to_its_rows(monkeypatch):
    j = job("scheme=rope", "extension=longrope", "extension.factor=2.0")
    train(j)
    monkeypatch.setattr(longrope, "DOCUMENTS", 4)
    model, held_out = (
        trained_model(j),
        longrope.texts(j.source.corpus, j.source.vocabulary.bos, 128),
    )
    assert held_out.shape == (4, 129) and (held_out[:, 0] == j.source.vocabulary.bos).all()
    factors = search.find_factors(model, held_out, 2.0, lambda done, total: None)
    plain = [
        search.text_loss(LongRoPE(2.0, start)(model), held_out)
        for start in search.beginnings(pairs(model.scheme), 2.0)
    ]
    assert search.text_loss(LongRoPE(2.0, factors)(model), held_out) <= min(plain)
    monkeypatch.setattr(search, "find_factors", lambda *_: factors)
    words = ["label=a b", "extension.factor=2.0", "stage=train"]
    said = shlex.split(longrope.evaluation(words, longrope.factors(j)))
    assert said[:4] == ["extrap", "label=a b", "extension.factor=2.0", "stage=evaluate"]
    again = job("scheme=rope", "extension=longrope", "extension.factor=2.0", said[4])
    close(
        frequencies_used(again.extension(model).scheme, 128),
        model.scheme.spectrum(1) / row(*factors),
        1e-5,
    )
    evaluate(again)
    frame = rows.read(again.results)
    assert set(frame.task) == {"train", "used", "nll", "kv"}
    (name,) = set(frame.extension) - {"direct"}
    assert name.startswith("longrope,long=") and set(frame[frame.task == "nll"].factor) == {2.0}


def test_only_a_trained_run_is_searched(elsewhere, capsys):
    for words, line in (
        (["scheme=rope"], "extension=direct: give extension=longrope"),
        (["extension=longrope", "extension.factor=2"], "train it with `extrap stage=train`"),
    ):
        with pytest.raises(SystemExit, match="2"):
            longrope.main([*words, *TINY])
        assert line in capsys.readouterr().err


def test_too_little_text():
    with pytest.raises(UserError, match="training documents have 100000000 tokens"):
        longrope.texts(job("scheme=rope").source.corpus, 0, 10**8)
