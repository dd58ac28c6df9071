"""Answers of questions about one record, scored three ways in one forward pass.

An answer of a tokens is read together with its context but for the last token; it is right where
each of its tokens is the most likely one, which is what greedy decoding says as well.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from extrap.data.trials.base import Questions
from extrap.data.vocabulary import Vocabulary
from extrap.tasks.base import Model, batches

SEED = 0  # of the questions: the same for every run, so that runs can be compared trial by trial


@torch.no_grad()
def most_likely(
    model: Model, tokens: np.ndarray, answers: np.ndarray, vocabulary: Vocabulary, batch_tokens: int
) -> Iterator[np.ndarray]:
    """Yields, batch by batch, (2, n, a): the most likely tokens, over the whole vocabulary and
    among ids of the kind of the answer.

    The kinds are keys, values, and everything else. The answers (n, a) follow the last a tokens.
    """
    named = [vocabulary.key_ids, vocabulary.value_ids]
    kinds = np.select([np.isin(answers[0], ids) for ids in named], [0, 1], 2)
    ids_of = [*named, range(min(min(ids) for ids in named))]
    for rows in batches(len(tokens), tokens.shape[1], batch_tokens):
        logits = model(torch.from_numpy(tokens[rows]), last=answers.shape[1])
        of_kind = [best_of(logits[:, j], ids_of[k], 1)[:, 0] for j, k in enumerate(kinds)]
        yield torch.stack([logits.argmax(-1), torch.stack(of_kind, 1)]).cpu().numpy()


def best_of(logits: torch.Tensor, ids: Sequence[int], most: int) -> torch.Tensor:
    """Returns the most likely of these ids: (..., vocab) -> (..., most)."""
    if isinstance(ids, range):
        return logits[..., ids.start : ids.stop].topk(most, -1).indices + ids.start
    some = torch.tensor(ids, device=logits.device)
    return some[logits[..., some].topk(most, -1).indices]


def score(
    model: Model, questions: Questions, vocabulary: Vocabulary, batch_tokens: int
) -> dict[str, np.ndarray]:
    """Returns {metric: (n,) bool}. accuracy: all tokens of the answer are the most likely ones;
    restricted: the same among ids of their kind; format: the last tokens are any value of the
    context.
    """
    answers = questions.answers
    full, restricted = np.concatenate(
        [*most_likely(model, questions.tokens, answers, vocabulary, batch_tokens)], 1
    )
    width = questions.values.shape[2]
    return {
        "accuracy": (full == answers).all(1),
        "restricted": (restricted == answers).all(1),
        "format": (full[:, None, -width:] == questions.values).all(2).any(1),
    }
