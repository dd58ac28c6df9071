"""Properties of embeddings, queries, keys and outputs under a scheme."""

from functools import partial
from math import nan

import torch
from torch import Tensor

from extrap.audit.column import Column, below, error
from extrap.audit.subject import SHAPE, Subject, draw, words
from extrap.model.gpt import GPT
from extrap.model.scheme import Where

L = SHAPE.length


@torch.no_grad()
def deterministic(subject: Subject) -> str:
    """Returns whether the same text gives the same logits again, bit by bit: always, at test, or
    never.
    """
    model = subject.drawn
    try:
        test = repeats(model.eval())
        train = repeats(model.train())
    finally:
        model.eval()
    if not test:
        return "never"
    return "always" if train else "at test"


def repeats(model: GPT) -> bool:
    tokens = words(L)
    with torch.random.fork_rng([]):  # positions of training are drawn from torch's own generator
        return torch.equal(model(tokens), model(tokens))


@torch.no_grad()
def linear_codes(subject: Subject) -> float:
    """Returns the relative residual of the best matrix M_k with p(i + k) = M_k p(i) for all i with
    i + k < L, k = 1 and 7; nan if the input says nothing of positions.

    p(i) is the embedding of zeros at position i, or of ones if that says nothing (positions that
    multiply). Sinusoids: M_k is a rotation, arXiv 1706.03762.
    """
    model = subject.drawn
    tokens = torch.zeros(1, L, dtype=torch.long)
    at = model.where(tokens).at_layer(0, torch.zeros(1, L, SHAPE.dim))
    for value in (0.0, 1.0):
        x = torch.full((1, L, SHAPE.dim), value, dtype=torch.float64)
        p = model.scheme.embed(x, at)[0]
        if (p != p[:1]).any():
            return max(residual(p, k) for k in (1, 7))
    return nan


def residual(p: Tensor, k: int) -> float:
    """|| p(i + k) - M p(i) || / || p(i + k) || for the best M, over i."""
    now = p[:-k]
    later = p[k:]
    best = torch.linalg.lstsq(now, later, driver="gelsd").solution
    missed = later - now @ best
    return float(missed.norm() / later.norm())


@torch.no_grad()
def norm(subject: Subject) -> float:
    """Returns the largest relative change of the length of a token embedding, a query or a key, and
    of the form of the score; nan if the scheme owns attention and shows no queries and keys.

    At distance n the score of basis vectors e_a, e_b is a matrix M_n (D, D). A rotation has
    M_n^T M_n = scale**2 I; a score that fades, or an addition to queries and keys, has not.
    """
    model = subject.drawn
    if model.scheme.uses("attend"):
        return nan
    x = draw(1, L, SHAPE.dim)
    here = model.where(words(L)).at_layer(0, x)
    q, k = draw(2, 1, SHAPE.heads, L, SHAPE.head_dim, seed=5)
    q_turned, k_turned = model.scheme.rotate(q, k, here)
    x_coded = model.scheme.embed(x, here)
    pairs = (x, x_coded), (q, q_turned), (k, k_turned)
    changes = []
    for before, after in pairs:
        ratio = after.norm(dim=-1) / before.norm(dim=-1)
        change = (ratio - 1).abs().max()
        changes.append(float(change))
    changes.append(bent(model, here))
    return max(changes)


def bent(model: GPT, here: Where) -> float:
    """max |M_n^T M_n / scale**2 - I| over heads and the distances below L."""
    D = SHAPE.head_dim
    H = SHAPE.heads
    T = here.length
    one = torch.eye(D, dtype=torch.float64)
    a = one.repeat_interleave(D, 0)
    b = one.repeat(D, 1)
    q = a[:, None, None].expand(-1, H, T, -1)
    k = b[:, None, None].expand(-1, H, T, -1)
    q, k = model.scheme.rotate(q, k, here)
    last = here.block(T - 1, T)
    s = model.scheme.score(q[:, :, -1:], k, last)
    by_pair = s.view(D, D, H, T)
    m = by_pair.permute(2, 3, 0, 1) / here.scale
    off = m.mT @ m - one
    return float(off.abs().max())


@torch.no_grad()
def order(layers: int, subject: Subject) -> float:
    """Returns the relative change of the last row after so many layers, with the tokens before it
    permuted. Under the causal mask alone, one layer sees a set; the second sees the order.
    """
    tokens = words(24)
    draws = torch.Generator().manual_seed(0)
    others = torch.randperm(23, generator=draws)
    permuted = tokens.clone()
    permuted[:, :-1] = tokens[:, others]
    a = last_row(subject.drawn, tokens, layers)
    b = last_row(subject.drawn, permuted, layers)
    return float((b - a).norm() / a.norm())


def last_row(model: GPT, tokens: Tensor, layers: int) -> Tensor:
    """(C,) of the last token after some layers."""
    at = model.where(tokens)
    x = model.embedding(tokens)
    for layer, block in enumerate(model.blocks[:layers]):
        x = block(x, model.scheme, at, layer)
    return x[0, -1]


DETERMINISTIC = Column(
    "deterministic", "repeats", "the same text gives the same logits twice: always, at test "
    "only, or never", deterministic, str, lambda value: value == "always"
)  # fmt: skip
CODES = Column(
    "linear_codes", "linear", "codes p(i) at the input: relative residual of the best M_k with "
    "p(i+k) = M_k p(i), k = 1 and 7", linear_codes, error, below(1e-6)
)  # fmt: skip
NORM = Column(
    "norm", "norm", "largest relative change of the length of an embedding, a query or a key, "
    "and of the form of the score", norm, error, below(1e-6)
)  # fmt: skip
ORDER = tuple(
    Column(
        f"order_{n}", f"order{n}",
        f"relative change of the last row after {said} when the tokens before it are permuted",
        partial(order, n), error, lambda value: value > 1e-9
    )
    for n, said in ((1, "one layer"), (2, "two layers"))
)  # fmt: skip
