"""How far the logit falls with distance, as constructed, between a query and an equal key, and
between independent ones; of schemes whose weights are no softmax of logits, the weight.

Queries and keys are the normed input itself. fall = (mean logit at the 4 nearest distances - mean
at L/2 .. L) / s, s the standard deviation of the logit of independent Gaussian content; mean over
heads and texts. Rotations let the first fall and not the second (arXiv 2410.06205), a bias both.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from extrap.audit.column import Column
from extrap.audit.subject import SHAPE, Subject, draw, finite, last_logits, place
from extrap.model.gpt import GPT
from extrap.model.scheme import Where

TEXTS = 64
L = SHAPE.length
FALLS = 0.25

COLUMNS = tuple(
    Column(
        f"decay_{name}",
        head,
        f"as constructed: fall of the logit of {what} from the 4 nearest distances to L/2 .. "
        "L, in s",
        "{:+.2f}".format,
        lambda value: value >= FALLS,
    )
    for name, head, what in (
        ("aligned", "q=k falls", "equal query and key"),
        ("gaussian", "q,k falls", "independent Gaussian ones"),
    )
)


@torch.no_grad()
def measure(subject: Subject) -> dict[str, float]:
    model = subject.fresh
    same = draw(TEXTS, 1, SHAPE.dim).expand(-1, L, -1)
    other, third = (draw(TEXTS, L, SHAPE.dim, seed=seed) for seed in (7, 8))
    aligned, gaussian = by_distance(model, same, same), by_distance(model, other, third)
    return {"decay_aligned": fall(aligned, gaussian), "decay_gaussian": fall(gaussian, gaussian)}


def by_distance(model: GPT, of_q: Tensor, of_k: Tensor) -> Tensor:
    """(B, H, L): logits of the last query in the first layer, nearest key first."""
    at = place(model, torch.zeros(TEXTS, L, dtype=torch.long))
    (q, here), (k, _) = heads(model, of_q, at), heads(model, of_k, at)
    return finite(last_logits(model.scheme, q, k, here, weighed=True)).flip(-1)


def heads(model: GPT, x: Tensor, at: Where) -> tuple[Tensor, Where]:
    """(B, H, T, D): the input with what positions add to it, normed, cut into heads."""
    normed = F.rms_norm(model.scheme.embed(x, at.at_layer(0, x)), (SHAPE.dim,))
    return normed.unflatten(-1, (SHAPE.heads, -1)).transpose(1, 2), at.at_layer(0, normed)


def fall(s: Tensor, gaussian: Tensor) -> float:
    spread = float((gaussian - gaussian.mean(0)).std())
    return float(s[..., :4].mean() - s[..., L // 2 :].mean()) / spread if spread else 0.0
