"""The search for LongRoPE's factors, one per pair, on the loss of a trained model. arXiv
2402.13753, section 3.

The paper breeds a population; here the best of its three beginnings (interpolation, NTK, YaRN) is
improved pair by pair, and as in the paper no later pair has a smaller factor.
"""

from collections.abc import Callable
from math import inf, isfinite

import torch
import torch.nn.functional as F
from torch import Tensor

from extrap.extensions.by_parts import YaRN
from extrap.extensions.longrope import LongRoPE
from extrap.extensions.ntk import bloc97
from extrap.model.gpt import GPT
from extrap.model.parts import parts
from extrap.model.spectrum import Pairs, pairs, turns_pairs

BATCH_TOKENS = 4096
STEPS = (2.0, 1.4, 1.15)  # a factor is tried this many times greater and smaller,
ROUNDS = 3  # pair by pair, as long as it helps, at most so often
HEADROOM = 1.25  # no pair is slowed by more than this times the factor, as in the paper


def search(
    loss: Callable[[list[float]], float],
    starts: list[list[float]],
    most: float,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> tuple[list[float], float]:
    """Returns (factors, loss): non-decreasing factors in 1 .. most, no worse than any start."""
    total = len(starts) + 2 * len(STEPS) * ROUNDS * len(starts[0])
    done = 0

    def tried(factors: list[float]) -> tuple[float, list[float]]:
        nonlocal done
        value = loss(factors)
        done += 1
        progress(done, total)
        return value if isfinite(value) else inf, factors

    best = min(tried(start) for start in starts)
    for step in STEPS:
        for _ in range(ROUNDS):
            before = best
            for p in reversed(range(len(best[1]))):
                _, factors = best
                more = moved(factors, p, factors[p] * step, most)
                less = moved(factors, p, factors[p] * (1 / step), most)
                best = min(best, tried(more), tried(less))
            if best == before:
                break
    progress(total, total)
    value, factors = best
    return factors, value


def moved(factors: list[float], p: int, value: float, most: float) -> list[float]:
    """Returns factors with factor p at a value; the others give way and stay non-decreasing."""
    value = min(max(value, 1.0), most)
    before = factors[:p]
    after = factors[p + 1 :]
    lowered = [min(factor, value) for factor in before]
    raised = [max(factor, value) for factor in after]
    return [*lowered, value, *raised]


def beginnings(trained: Pairs, s: float) -> list[list[float]]:
    """Returns the factors per pair of interpolation, NTK and YaRN; 1 for pairs that do not turn."""
    interpolated = trained.theta / s
    ntk = bloc97(trained, s)
    yarn = YaRN(s).theta(trained, s)
    found = []
    for slowed in (interpolated, ntk, yarn):
        factors = trained.theta / slowed
        found.append(factors.nan_to_num(1.0).tolist())
    return found


@torch.inference_mode()
def text_loss(model: Callable[..., Tensor], texts: Tensor) -> float:
    """Returns nats per token over texts (N, 1 + n)."""
    total = 0.0
    at_once = max(1, BATCH_TOKENS // texts.shape[1])
    for batch in texts.split(at_once):
        logits = model(batch[:, :-1]).float().flatten(0, 1)
        targets = batch[:, 1:].flatten()
        total += float(F.cross_entropy(logits, targets, reduction="sum"))
    return total / texts[:, 1:].numel()


def find_factors(
    model: GPT, held_out: Tensor, s: float, progress: Callable[[int, int], object]
) -> list[float]:
    """Returns the long factors for a trained model."""
    trained = next(pairs(part) for part in parts(model.scheme) if turns_pairs(part))

    def loss(factors: list[float]) -> float:
        extended = LongRoPE(s, factors)(model)
        return text_loss(extended, held_out)

    starts = beginnings(trained, s)
    factors, _ = search(loss, starts, HEADROOM * s, progress)
    return factors
