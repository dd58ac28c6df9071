"""Answers of several tokens: one forward, or decoding with copies, is what token by token gives."""

import numpy as np
import pytest
import torch

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
