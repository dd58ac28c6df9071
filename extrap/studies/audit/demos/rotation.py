"""A rotation step by step: angles, cosines, sines, every pair before and after, and norms that do
not change.

(a, b) -> (a cos - b sin, a sin + b cos) by the angle m theta_p, theta_p = 10000**(-2p/4); x = (1,
2, 3, 4), neighbours are pairs.

Run: python results/audit/demos rotation
"""

import torch
from torch import Tensor

from extrap.model.functional import frequencies
from extrap.model.rotary import phase, turn
from extrap.studies.audit.demos.lines import aligned

X = (1.0, 2.0, 3.0, 4.0)
PLACES = (0, 1, 2, 100)


def turned(m: int) -> Tensor:
    """(4,) R_m x."""
    x = torch.tensor([X], dtype=torch.float64)
    theta = frequencies(len(X))[None]
    angle = float(m) * theta
    return turn(x, phase(angle, x.dtype), "interleaved")[0]


def show() -> str:
    rows = [["m", "pair", "angle", "cos", "sin", "before", "after", "norm before", "norm after"]]
    thetas = frequencies(len(X)).tolist()
    for m in PLACES:
        y = turned(m)
        for p, theta in enumerate(thetas):
            angle = torch.tensor(m * theta, dtype=torch.float64)
            pair = slice(2 * p, 2 * p + 2)
            before = torch.tensor(X[pair], dtype=torch.float64)
            after = y[pair]
            rows.append(
                [
                    str(m),
                    str(p),
                    *(f"{float(v):.6f}" for v in (angle, angle.cos(), angle.sin())),
                    written(before),
                    written(after),
                    f"{before.norm():.6f}",
                    f"{after.norm():.6f}",
                ]
            )
    whole = ", ".join(f"{turned(m).norm():.6f}" for m in PLACES)
    return (
        f"{aligned(rows)}\n\nNorm of the whole vector at m = {', '.join(map(str, PLACES))}: "
        f"{whole}; of x: {torch.tensor(X).norm():.6f}."
    )


def written(pair: Tensor) -> str:
    return f"({', '.join(f'{v:.6f}' for v in pair.tolist())})"
