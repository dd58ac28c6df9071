"""Past the training length: for how many tokens a scheme is defined, and whether its numbers stay
of the size that they had.

growth: root mean square of the logits of the last of T tokens at distances n >= T/2, for T = 64 L
(or the last length that is defined) over that for T = 8 L, and the same for the embeddings at these
places; the greatest of all. A bias linear in n gives 8, a logarithm of n about 1.3, a function of
bounded phases 1. Keys that nobody sees have no logit. nan: not defined so far.
"""

from math import inf, isfinite

import torch
from torch import Tensor

from extrap.audit.column import Column
from extrap.audit.subject import SHAPE, Subject, draw, last_logits, place, projected
from extrap.model.gpt import GPT
from extrap.model.scheme import OutOfRange, Where

L = SHAPE.length
MULTIPLES = (4, 8, 16, 32, 64, 256, 1024)
SHORT, LONGEST = 8, 64
TEXTS = 8
BOUNDED = 1.25

COLUMNS = (
    Column(
        "defined",
        "defined",
        "largest length tried, in L, at which logits are defined and finite (1024: no end found)",
        lambda value: "all" if value == MULTIPLES[-1] else f"to {value} L",
        lambda value: value > 1,
    ),
    Column(
        "growth",
        "bounded",
        "growth of logits and embeddings from 8 L to 64 L: 1 bounded, 1.3 like ln n, 8 like n",
        lambda value: f"x{value:.3g}" if value < 1e4 else f"x{value:.0e}",
        lambda value: value <= BOUNDED,
    ),
)


@torch.no_grad()
def measure(subject: Subject) -> dict[str, float]:
    model = subject.drawn
    most = defined(model)
    return {
        "defined": most,
        "growth": growth(model, min(most, LONGEST) * L) if most >= 16 else float("nan"),
    }


def defined(model: GPT) -> int:
    """The largest multiple of L, among those tried, at which coordinates are in range; 1 where
    logits at 4 L are not finite.
    """
    most = 1
    for m in MULTIPLES:
        try:
            t = model.scheme.positions(torch.arange(m * L, dtype=torch.float64))
        except OutOfRange:
            break
        if float(t.max()) >= model.scheme.limit or (
            m == MULTIPLES[0] and not model(words_of(m * L), last=L).isfinite().all()
        ):
            break
        most = m
    return most


def words_of(T: int) -> Tensor:
    return torch.randint(SHAPE.vocab, (1, T), generator=torch.Generator().manual_seed(6))


def growth(model: GPT, T: int) -> float:
    """Size at T tokens over size at 8 L, the greatest of embeddings and of the logits of each
    layer.
    """
    return max(
        ratio(far, near) for near, far in zip(sizes(model, SHORT * L), sizes(model, T), strict=True)
    )


def ratio(far: float, near: float) -> float:
    return far / near if isfinite(far) else inf


def sizes(model: GPT, T: int) -> list[float]:
    """Root mean squares over the far half, of texts of one repeated token each, so that nothing but
    the position differs.
    """
    at = place(model, torch.arange(TEXTS)[:, None].expand(TEXTS, T))
    x = draw(TEXTS, 1, SHAPE.dim).expand(TEXTS, T, SHAPE.dim)
    found = [size(model.scheme.embed(x, at.at_layer(0, x)).movedim(1, -1))]
    for layer in range(len(model.blocks)):
        q, k, v, here = projected(model, layer, x, at)
        found.append(size(read(model, q, k, v, here)))
    return found


def read(model: GPT, q: Tensor, k: Tensor, v: Tensor, here: Where) -> Tensor:
    """(..., T), by distance: logits of the last query; by place, where a scheme owns attention:
    outputs.
    """
    if model.scheme.uses("attend", layer=here.layer):
        return model.scheme.attend(q, k, v, here).movedim(2, -1)
    return last_logits(model.scheme, q, k, here).flip(-1)


def size(s: Tensor) -> float:
    """Root mean square of the far half of the last axis; 1 where nothing far is seen, inf where
    something there is no number.
    """
    far = s[..., s.shape[-1] // 2 :]
    far = far[far != -torch.inf]
    value = float(far.square().mean().sqrt()) if len(far) else 1.0
    return value if isfinite(value) else inf
