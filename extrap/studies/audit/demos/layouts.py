"""Two layouts of RoPE are one: half (p, p + D/2) of permuted channels is interleaved (2p, 2p + 1),
permuted.

P puts channel 2p at p and channel 2p + 1 at p + D/2. half(P x) = P interleaved(x), and scores agree
if queries and keys are both permuted, which is a permutation of the rows of their projections
within each head.

Run: python results/audit/demos layouts
"""

import torch
from torch import Tensor

from extrap.model.functional import frequencies
from extrap.model.rotary import Layout, pairing, phase, relayout, turn

D, HEADS, WIDTH, TOKENS = 8, 2, 16, 5


def rotated(x: Tensor, layout: Layout) -> Tensor:
    """R_t x_t for x (..., T, D)."""
    t = torch.arange(x.shape[-2], dtype=torch.float64)
    return turn(x, phase(t[:, None] * frequencies(D), x.dtype), layout)


def permuted(x: Tensor) -> Tensor:
    """P x, over the last axis."""
    return x[..., pairing("interleaved", D).T.flatten()]


def data() -> dict[str, float]:
    """Largest differences: of rotated vectors, and of scores as the weights stand and after their
    rows were moved.
    """
    g = torch.Generator().manual_seed(0)
    x = torch.randn(TOKENS, D, generator=g, dtype=torch.float64)
    h, wq, wk = (
        torch.randn(n, WIDTH, generator=g, dtype=torch.float64)
        for n in (TOKENS, HEADS * D, HEADS * D)
    )

    def scores(wq: Tensor, wk: Tensor, layout: Layout) -> Tensor:
        q = (h @ wq.T).unflatten(-1, (HEADS, D)).movedim(1, 0)
        k = (h @ wk.T).unflatten(-1, (HEADS, D)).movedim(1, 0)
        return rotated(q, layout) @ rotated(k, layout).mT

    trained = scores(wq, wk, "interleaved")
    moved_q, moved_k = (relayout(w, HEADS, "interleaved", "half") for w in (wq, wk))
    return {
        "half(P x) - P interleaved(x)": difference(
            rotated(permuted(x), "half"), permuted(rotated(x, "interleaved"))
        ),
        "half(x) - interleaved(x)": difference(rotated(x, "half"), rotated(x, "interleaved")),
        "scores: half on the same weights": difference(scores(wq, wk, "half"), trained),
        "scores: half, rows of W_q alone moved": difference(scores(moved_q, wk, "half"), trained),
        "scores: half, rows of W_q and W_k moved": difference(
            scores(moved_q, moved_k, "half"), trained
        ),
    }


def difference(a: Tensor, b: Tensor) -> float:
    return float((a - b).abs().max())


def show() -> str:
    x = torch.arange(1.0, D + 1).double()
    lines = [f"x    {_row(x)}", f"P x  {_row(permuted(x))}", "", "largest differences"]
    return "\n".join([*lines, *(f"  {what:40} {value:.1e}" for what, value in data().items())])


def _row(x: Tensor) -> str:
    return " ".join(f"{v:g}" for v in x.tolist())
