"""Answers of several tokens: exactness in one forward pass, and greedy decoding where the text
itself is needed.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from extrap.data.vocabulary import Vocabulary
from extrap.model.fitting import full
from extrap.model.past import Past
from extrap.tasks.base import Model, batches
from extrap.tasks.scoring.answers import NONE, likely, right

Read = Callable[[int], Any]
"""Called with the tokens of each batch that the model has read."""
Ended = Callable[[np.ndarray], bool]
"""Whether an answer has ended, by its ids so far (t,)."""
AHEAD = 8
"""Guessed tokens of the first forward."""
LITTLE = 1 / 8
"""Share of a text below which its past saves less than the check that it stays as it is costs."""


def _alike(model: Model, sizes: Sequence, batch_tokens: int, extra: int = 0) -> Iterator[list[int]]:
    """Yields batches of sequences of one size, a tuple that begins with the length in tokens; for
    an engine, which reads each by itself, of any sizes.
    """
    if hasattr(model, "greedy") and sizes:
        longest = max(sizes)[0] + extra
        every = list(range(len(sizes)))
        yield from (every[rows] for rows in batches(len(sizes), longest, batch_tokens, model))
        return
    for size in sorted(set(sizes)):
        same = [i for i, other in enumerate(sizes) if other == size]
        length = size[0] + extra
        for rows in batches(len(same), length, batch_tokens):
            yield same[rows]


class Begun:
    """A model that reads a text on from where it parts from the last one that it read, if its past
    stays as it is; else the whole text.
    """

    def __init__(self, model: Any):
        self.model = model
        self.further = model.further
        self._forget()

    def _forget(self) -> None:
        self._texts = np.zeros((0, 0), np.int64)
        self._past = Past()

    def __call__(self, tokens: torch.Tensor, last: int) -> torch.Tensor:
        texts = tokens.numpy()
        B, T = texts.shape
        past = self.shared(texts, T - last)
        if past.length < LITTLE * T:
            past = Past()
        if self.continues(B, past.length or T - last, T):
            try:
                logits = self.further(tokens, last, past)
                self._texts, self._past = texts, past
                return logits
            except Exception as error:
                if not full(error):
                    raise
        self._forget()
        return self.model(tokens, last=last)

    def continues(self, texts: int, known: int, tokens: int) -> bool:
        longest = max(tokens, self._texts.shape[1])
        return self.model.continues(texts, known, longest, self._texts.size)

    def shared(self, texts: np.ndarray, most: int) -> Past:
        """Returns the past of the first tokens, at most so many, that texts share with the last
        ones.
        """
        if len(texts) != len(self._texts):
            return Past()
        n = min(most, self._texts.shape[1])
        same = (texts[:, :n] == self._texts[:, :n]).all(0)
        return self._past.first(int(same.cumprod().sum()))


def together(
    model: Model, sizes: Sequence, batch_tokens: int, extra: int
) -> Iterator[tuple[list[int], Model]]:
    """Yields batches of `_alike`, each with a reader for all that begins like its texts; all
    sequences for a model that keeps no past.
    """
    if not hasattr(model, "continues"):
        yield list(range(len(sizes))), model
        return
    for rows in _alike(model, sizes, batch_tokens, extra):
        yield rows, Begun(model)


@torch.no_grad()
def exact(
    model: Model,
    prompts: Sequence[np.ndarray],
    answers: Sequence[np.ndarray],
    batch_tokens: int,
    ends: Callable[[int], bool] | None = None,
    read: Read = bool,
) -> np.ndarray:
    """Returns (n,): 1 if greedy decoding after the prompt begins with the answer, else 0; nan
    without a most likely token. Both are 1-d arrays of ids, answers not empty; ends: whether the
    token behind an answer ends it, None for any token.

    The model reads the answer along with the prompt. Greedy decoding would say this answer if each
    of its tokens is the most likely one after the tokens before it: one forward, the same as
    generation.
    """
    found = np.zeros(len(prompts))
    sizes = [(len(p), len(a)) for p, a in zip(prompts, answers, strict=True)]
    for rows in _alike(model, sizes, batch_tokens):
        before = [prompts[i] for i in rows]
        wanted = [answers[i] for i in rows]
        named = _named(model, before, wanted, ends is not None)
        for i, said, answer in zip(rows, named, wanted, strict=True):
            found[i] = right(said[: len(answer)], answer).min()
            if ends is not None:
                behind = int(said[len(answer)])
                closed = np.nan if behind == NONE else ends(behind)
                found[i] = np.minimum(found[i], closed)
        read(sum(map(len, before)) + sum(map(len, wanted)))
    return found


def _named(
    model: Model, prompts: Sequence[np.ndarray], answers: Sequence[np.ndarray], behind: bool
) -> np.ndarray:
    """Returns the most likely ids at the places of the answers, and with `behind` at the place
    after them: (n, a) or (n, a + 1). A model reads answers of one length along; an engine says its
    own, with `bos` behind the shorter ones.
    """
    counts = [len(answer) + behind for answer in answers]
    if hasattr(model, "greedy"):
        return _said(model, prompts, counts)
    tokens = np.concatenate([np.stack(prompts), np.stack(answers)], 1)
    read = tokens if behind else tokens[:, :-1]
    logits = model(torch.from_numpy(read), last=counts[0])
    return likely(logits).cpu().numpy()


@torch.no_grad()
def greedy(
    model: Model,
    prompts: Sequence[np.ndarray],
    count: int,
    batch_tokens: int,
    read: Read = bool,
    ended: Ended | None = None,
) -> np.ndarray:
    """Returns (n, count) int64: the `count` tokens that follow each prompt, each the most likely
    one after the tokens before it; NONE from the first place on that has none, and where all of a
    batch have ended.

    A model reads a guess along with the text. The guess is right up to the first token that differs
    from the prediction, whose place the prediction takes. That takes at most `count` forwards, and
    few if the text copies or repeats itself. A GPT whose past stays as it is reads the prompt once,
    and guesses further ahead the longer it is right; for another model each forward reads the whole
    text. An extension that depends on the length (dynamic NTK) sees the length of the whole answer
    from the first token on, as in `exact`. Source: speculative decoding, arXiv 2211.17192, with
    `guess` in place of a model.
    """
    out = np.zeros((len(prompts), count), np.int64)
    sizes = [(len(prompt),) for prompt in prompts]
    for rows in _alike(model, sizes, batch_tokens, count):
        some = [prompts[i] for i in rows]
        if hasattr(model, "greedy"):
            out[rows] = _said(model, some, [count] * len(some))
        else:
            texts = np.stack(some)
            followed = _followed(model, texts, count, ended)
            if followed is None:
                followed = _read_again(model, texts, count, ended)
            out[rows] = followed
        read(sum(map(len, some)))
    return out


def _read_again(
    model: Model, prompts: np.ndarray, count: int, ended: Ended | None = None
) -> np.ndarray:
    """Returns the tokens that follow prompts of one length. Each forward reads the whole texts of
    the prompts that lack tokens.
    """
    out = np.zeros((len(prompts), count), np.int64)
    known = [0] * len(prompts)
    while left := [i for i, n in enumerate(known) if n < count]:
        read = []
        for i in left:
            said = out[i, : known[i]]
            text = np.concatenate([prompts[i], said])
            guesses = guess(text, count - known[i])
            read.append(np.concatenate([text, guesses]))
        texts = np.stack(read)
        logits = model(torch.from_numpy(texts[:, :-1]), last=count)
        predicted = likely(logits).cpu().numpy()
        same = predicted == texts[:, -count:]
        agreed = same.cumprod(1).sum(1).tolist()
        for i, tokens, n in zip(left, predicted, agreed, strict=True):
            if NONE in tokens[n : n + 1]:
                first = np.arange(count) < n
                out[i] = np.where(first, tokens, NONE)
                known[i] = count
            else:
                out[i] = tokens
                known[i] = min(max(n, known[i]) + 1, count)  # so that it ends for any model
                if ended is not None and ended(out[i, : known[i]]):
                    out[i, known[i] :] = NONE
                    known[i] = count
    return out


def _followed(
    model: Model, prompts: np.ndarray, count: int, ended: Ended | None = None
) -> np.ndarray | None:
    """Returns the tokens that follow prompts of one length; None if the model keeps no past of
    them, or if memory has no room for it. Each forward reads a guess on from the past of the text,
    and keeps what all prompts of the batch have right.
    """
    texts, size = prompts.shape
    if not hasattr(model, "continues"):
        return None
    if not model.continues(texts, size, size + count):
        return None
    past = model.shared(prompts, size - 1) if isinstance(model, Begun) else Past()
    known = 0
    ahead = AHEAD
    found = np.full((texts, count), NONE, np.int64)
    over = np.zeros(texts, bool)
    while known < count and not over.all():
        ahead = min(ahead, count - known)
        said = found[:, :known].clip(0)
        text = np.concatenate([prompts, said], 1)
        guesses = np.stack([guess(row, ahead) for row in text])
        read = np.concatenate([text, guesses], 1)[:, :-1]
        try:
            logits = model.further(torch.from_numpy(read), last=ahead, past=past)
        except Exception as error:
            if full(error):
                return None
            raise
        predicted = likely(logits).cpu().numpy()
        agreed = (predicted == guesses).cumprod(1).sum(1)
        by_all = agreed[~over].min()
        new = min(by_all + 1, ahead)
        for n in range(new):
            place = known + n
            found[~over, place] = predicted[~over, n]
            over |= found[:, place] == NONE
        known += new
        if ended is not None:
            over |= [ended(ids[:known]) for ids in found]
        ahead = 2 * ahead if by_all == ahead else by_all + 1
        past = past.first(size + known - 1)
    return found


def before_end(ids: np.ndarray, vocabulary: Vocabulary) -> tuple[np.ndarray, bool]:
    """Returns the decoded ids (t,) in front of the end of a text or a turn, and whether it is among
    them. Nothing counts from the first NONE on.
    """
    known = ids[: _first(ids == NONE)]
    said = known[: _first(np.isin(known, [*vocabulary.encoder.special, vocabulary.bos]))]
    return said, len(said) < len(known)


def _first(where: np.ndarray) -> int:
    """Returns the first place that is True, or the number of places."""
    return int(where.argmax()) if where.any() else len(where)


def _said(model: Model, prompts: Sequence[np.ndarray], counts: Sequence[int]) -> np.ndarray:
    """Returns the answers of an engine, as many tokens as the count of each: (n, most) int64."""
    ids, _ = model.greedy([prompt.tolist() for prompt in prompts], counts)
    return ids.numpy()


def guess(text: np.ndarray, count: int) -> np.ndarray:
    """Returns (count,): the tokens that followed the last occurrence of the last 8, 4, 2 or 1
    tokens (the most that occurred before); else the last token, repeated.
    """
    for width in (8, 4, 2, 1):
        if len(text) > width:
            earlier = np.lib.stride_tricks.sliding_window_view(text[:-1], width)
            same = (earlier == text[-width:]).all(1)
            found = np.flatnonzero(same)
            if len(found):
                behind = found[-1] + width
                return np.resize(text[behind:], count)
    return np.full(count, text[-1])
