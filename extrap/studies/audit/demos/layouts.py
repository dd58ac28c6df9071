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

D = 8
HEADS = 2
WIDTH = 16
TOKENS = 5


def rotated(x: Tensor, layout: Layout) -> Tensor:
    """R_t x_t for x (..., T, D)."""
    t = torch.arange(x.shape[-2], dtype=torch.float64)
    angle = t[:, None] * frequencies(D)
    return turn(x, phase(angle, x.dtype), layout)


def permuted(x: Tensor) -> Tensor:
    """P x, over the last axis."""
    pairs = pairing("interleaved", D)
    return x[..., pairs.T.flatten()]


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

    def heads(w: Tensor, layout: Layout) -> Tensor:
        of_heads = (h @ w.T).unflatten(-1, (HEADS, D))
        return rotated(of_heads.movedim(1, 0), layout)

    def scores(wq: Tensor, wk: Tensor, layout: Layout) -> Tensor:
        return heads(wq, layout) @ heads(wk, layout).mT

    trained = scores(wq, wk, "interleaved")
    moved_q = relayout(wq, HEADS, "interleaved", "half")
    moved_k = relayout(wk, HEADS, "interleaved", "half")
    half = rotated(x, "half")
    interleaved = rotated(x, "interleaved")
    half_of_permuted = rotated(permuted(x), "half")
    same_weights = scores(wq, wk, "half")
    q_moved = scores(moved_q, wk, "half")
    both_moved = scores(moved_q, moved_k, "half")
    return {
        "half(P x) - P interleaved(x)": difference(half_of_permuted, permuted(interleaved)),
        "half(x) - interleaved(x)": difference(half, interleaved),
        "scores: half on the same weights": difference(same_weights, trained),
        "scores: half, rows of W_q alone moved": difference(q_moved, trained),
        "scores: half, rows of W_q and W_k moved": difference(both_moved, trained),
    }


def difference(a: Tensor, b: Tensor) -> float:
    return float((a - b).abs().max())


def show() -> str:
    x = torch.arange(1.0, D + 1).double()
    lines = [f"x    {_row(x)}", f"P x  {_row(permuted(x))}", "", "largest differences"]
    for what, value in data().items():
        lines.append(f"  {what:40} {value:.1e}")
    return "\n".join(lines)


def _row(x: Tensor) -> str:
    return " ".join(f"{v:g}" for v in x.tolist())
