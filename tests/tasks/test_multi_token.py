"""Answers of several tokens: one forward, or decoding with copies, is what token by token gives."""

import numpy as np
import pytest
import torch

from extrap.tasks.scoring.answers import NONE, hits
from extrap.tasks.scoring.multi_token import exact, greedy


def test_exactness_in_one_forward_is_generation_token_by_token():
    """A random causal model: the next token depends on all before it."""
    table = torch.randn(40, 5, generator=torch.Generator().manual_seed(0))

    def model(tokens, last):
        return (
            torch.nn.functional.one_hot(tokens, 5).double().cumsum(1)[:, -last:]
            @ table[:5].double()
            + table[tokens[:, -last:]]
        )

    rng = np.random.default_rng(0)
    prompts = [rng.integers(5, size=n) for n in (3, 4, 4, 6, 3, 5) * 5]
    said = greedy(model, prompts, 4, 10)
    for p, s in zip(prompts, said, strict=True):
        tokens = p.tolist()
        for _ in range(4):
            tokens.append(int(model(torch.tensor([tokens]), 1)[0, -1].argmax()))
        assert tokens[len(p) :] == s.tolist()
    wrong = [np.where(np.arange(4) == i % 4, (s + 1) % 5, s) for i, s in enumerate(said)]
    assert exact(model, prompts, list(said), 10).all()
    assert not exact(model, prompts, wrong, 10).any()


class Engine:
    """Says 1, 2, 3 ..., and 0 behind the count of each prompt."""

    requests = 4

    def __init__(self):
        self.asked = []

    def greedy(self, prompts, counts):
        self.asked.append(len(prompts))
        most = range(1, max(counts) + 1)
        said = [[n if n <= count else 0 for n in most] for count in counts]
        return torch.tensor(said), torch.zeros(len(said), len(most))


@pytest.mark.parametrize("ends", [None, {3, 4}.__contains__])
def test_an_engine_gets_prompts_and_answers_of_any_lengths_at_once(ends):
    engine = Engine()
    prompts = [np.arange(n) for n in (3, 9, 4, 7, 5, 6)]
    answers = [np.array(a) for a in ([1], [1, 2], [1, 2, 3], [1, 3], [1, 2], [2])]
    found = exact(engine, prompts, answers, 1, ends)
    assert found.tolist() == ([1, 1, 1, 0, 1, 0] if ends is None else [0, 1, 1, 0, 1, 0])
    assert greedy(engine, prompts, 2, 1).tolist() == [[1, 2]] * 6
    assert engine.asked == [4, 2, 4, 2]


def copying(step, period):
    """A reader that says what stood `period` tokens before, plus step; lengths that it has read."""
    lengths = []

    def model(tokens, last):
        lengths.append(tokens.shape[1])
        slots = torch.arange(tokens.shape[1] - last, tokens.shape[1]) + 1 - period
        return torch.nn.functional.one_hot((tokens[:, slots] + step) % 50, 50).float()

    return model, lengths


@pytest.mark.parametrize(
    ("step", "period", "reads"), [(0, 1, 2), (0, 5, 1), (1, 1, 12), (1, 5, 12)]
)
def test_decoding_reads_no_more_often_than_token_by_token_and_less_where_it_copies(
    step, period, reads
):
    model, lengths = copying(step, period)
    start = [3, 8, 13, 18, 23]
    prompts = [np.array(start * 2), np.array(start * 2) + 20]
    said = greedy(model, prompts, 12, 100)
    for prompt, row in zip(prompts, said, strict=True):
        text = prompt.tolist()
        for _ in range(12):
            text.append((text[-period] + step) % 50)
        assert row.tolist() == text[10:]
    assert set(lengths) == {10 + 11} and len(lengths) <= reads


def counting(lost):
    """Says the next number; nan past a number."""

    def model(tokens, last):
        logits = torch.nn.functional.one_hot((tokens[:, -last:] + 1) % 50, 50).float()
        return logits.masked_fill((tokens[:, -last:] >= lost)[..., None], torch.nan)

    return model


def test_an_answer_past_logits_that_are_no_numbers_is_neither_right_nor_wrong():
    prompts, model = [np.array([3, 4]), np.array([20, 21])], counting(24)
    assert greedy(model, prompts, 5, 100).tolist() == [[5, 6, 7, 8, 9], [22, 23, 24, NONE, NONE]]
    answers = [np.array([5, 6, 7, 8]), np.array([22, 23, 24, 25])]
    found = exact(model, prompts, answers, 100)
    assert found[0] == 1 and np.isnan(found[1])
    logits = torch.tensor([[0.0, 1.0], [0.0, torch.inf], [1.0, -torch.inf], [torch.nan, 1.0]])
    np.testing.assert_array_equal(hits(logits, [1, 1, 1, 1]), [1, np.nan, 0, np.nan])


def test_a_longer_answer_is_right_unless_it_must_end():
    prompts, answers = [np.array([3, 4]), np.array([20, 21])], [np.array([5]), np.array([22])]
    model = counting(50)
    assert exact(model, prompts, answers, 100).tolist() == [1, 1]
    assert exact(model, prompts, answers, 100, lambda token: token == 6).tolist() == [1, 0]
