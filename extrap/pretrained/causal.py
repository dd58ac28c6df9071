"""Whether a model is a language model: it gives the same logits for the same text, whatever it read
before and beside it, and no later token changes the logits before it.

The question is put to texts of every length that extrap measures: a mask, a window or a kernel may
be right in a short text and wrong in a long one.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from torch import Tensor

from extrap.model.scheme import OutOfRange

CAUSAL = "give a causal language model, as AutoModelForCausalLM loads it"
SHORT = 8
"""Tokens, and ids, of the first text."""
IDS = 64
"""Ids of the other texts, or all of a smaller vocabulary."""
NUMBERS = 2**26
"""Logits of a text that are held at most."""
BEFORE = 64
"""Positions that are compared at least where not all logits are held, and after longer texts."""
ROUNDING = 0.2
"""Root mean square by which logits of one text and of two, which other kernels may compute in half
precision, differ at most, in standard deviations of the logits."""


class Fault(NamedTuple):
    """What is wrong with a model, and the remedy."""

    problem: str
    remedy: str


@torch.no_grad()
def fault(
    model: Callable[..., Tensor],
    device: torch.device,
    lengths: Iterable[int] = (),
    progress: Callable[[int, int], object] = max,
) -> Fault | None:
    """Returns why a model gives no logits of a language model, None if it does: the first fault in
    a text of SHORT tokens, alone and beside another, then in texts of these lengths, then in the
    shorter ones again: a model may keep something of the longest. A text that the model refuses by
    OutOfRange has none.

    model: (tokens (B, T), last=w) -> logits (B, w, vocab). progress(done, total): tokens of texts.
    """
    ids, vocab, done = SHORT, SHORT, 0
    every = sorted({SHORT, *(n for n in lengths if n > SHORT)})
    read: list[tuple[Tensor, int, Tensor]] = []
    for T in every:
        progress(done, sum(every))
        done += T
        g = torch.Generator().manual_seed(0)
        text = torch.randint(ids, (1, T), generator=g)
        other = (text + torch.randint(1, ids, (1, T), generator=g)) % ids
        last = T if T * vocab <= NUMBERS else min(T, NUMBERS // vocab + BEFORE)
        try:
            before = model(text.to(device), last=last).clone()  # it may answer in one buffer
            if _probabilities(before):
                return Fault("returns probabilities, rows that sum to 1", "return logits")
            for cut in _cuts(T, max(1, T - last + BEFORE * (last < T))):
                changed = torch.cat([text[:, :cut], other[:, cut:]], 1)
                after = model(changed.to(device), last=last)
                if _differ(before[:, : cut - T], after[:, : cut - T]):
                    again = model(text.to(device), last=last)
                    if not torch.allclose(before, again, rtol=1e-2, atol=1e-3, equal_nan=True):
                        problem = f"returns other logits for the same ids (a text of {T} tokens)"
                        return Fault(problem, "turn dropout and sampling off")
                    problem = f"sees later tokens (a text of {T} tokens), so its losses are not a"
                    return Fault(f"{problem} language model's", CAUSAL)
            if T == SHORT and _mixes(model, text.to(device), other.to(device), before):
                problem = f"gives other logits for a text ({T} tokens) beside another"
                return Fault(problem, "compute each row of a batch by itself")
        except OutOfRange:
            continue
        vocab = before.shape[-1]
        ids = min(IDS, vocab)
        read.append((text, last, before[:, -BEFORE:].clone()))
    for text, last, first in reversed(read[:-1]):  # a short text may make it forget
        again = model(text.to(device), last=last)[:, -BEFORE:]
        if _differ(first, again):
            problem = f"gives other logits for a text ({text.shape[1]} tokens) after a longer one"
            return Fault(problem, "forget it between calls")
    progress(done, done)
    return None


def _mixes(model: Callable[..., Tensor], text: Tensor, other: Tensor, alone: Tensor) -> bool:
    """True if the logits of a text, `alone`, depend on a text beside it: on what it says, or on
    being there.
    """
    T = text.shape[1]
    twice = model(torch.cat([text, text]), last=T)[:1].clone()
    beside = model(torch.cat([text, other]), last=T)[:1]
    if _differ(twice, beside):
        return True
    finite = alone.isfinite() & beside.isfinite()
    kept, found = alone[finite].float(), beside[finite].float()
    return bool((kept - found).square().mean() > (ROUNDING * kept.std()) ** 2)


def _cuts(T: int, least: int) -> list[int]:
    """Returns how many tokens stay before the replaced ones, `least` at least: as few as possible,
    all but one, and between them an odd half, at which no block of an even number of tokens ends.
    """
    return sorted({least, max(least, T // 2 | 1), T - 1})


def _probabilities(logits: Tensor) -> bool:
    """True if the rows are numbers from 0 to 1 with the sum 1, and not all of them 0 or 1."""
    shares = bool(((logits >= 0) & (logits <= 1)).all())
    if not (shares and bool((logits % 1 != 0).any())):
        return False
    sums = logits.float().sum(-1)  # a GPU of Apple has no float64
    return torch.allclose(sums, torch.ones_like(sums), atol=1e-2)


def _differ(before: Tensor, after: Tensor) -> bool:
    """True if logits differ by more than rounding. A number that is not finite differs from any
    other.
    """
    finite = before.isfinite() & after.isfinite()
    if not torch.equal(before[~finite].nan_to_num(), after[~finite].nan_to_num()):
        return True
    kept, found = before[finite], after[finite]
    if kept.numel() < 2:
        return False
    round_off = torch.finfo(before.dtype).eps ** 0.5
    return bool((kept - found).abs().max() > round_off * kept.std())
