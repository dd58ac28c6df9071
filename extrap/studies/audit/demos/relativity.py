"""RoPE is relative: <R_m q, R_n k> depends on m - n alone, and which way R turns decides its sign.

q, then k: eight standard normal numbers each from numpy's RandomState(42). R_m turns neighbouring
channels (2p, 2p + 1) by m theta_p, theta_p = 10000**(-2p/8), counter-clockwise. arXiv 2104.09864,
section 3.4.

Run: python results/audit/demos relativity
"""

import numpy as np
import torch
from torch import Tensor

from extrap.model.functional import frequencies
from extrap.model.rotary import phase, turn
from extrap.studies.audit.demos.lines import aligned

D = 8
PLACES = (
    (0, 0),
    (7, 7),
    (10, 0),
    (17, 7),
    (1_000_010, 1_000_000),
    (0, 10),
    (7, 17),
    (1_000_000, 1_000_010),
)
HEADS = ("m", "n", "m-n", "q.k", "<R_m q, R_n k>", "<q, R_{m-n} k>", "<q, R_{n-m} k>")


def vectors() -> tuple[Tensor, Tensor]:
    drawn = np.random.RandomState(42)
    q = torch.from_numpy(drawn.randn(D))
    k = torch.from_numpy(drawn.randn(D))
    return q, k


def turned(x: Tensor, m: float) -> Tensor:
    """R_m x of a vector (D,)."""
    place = torch.tensor([[float(m)]], dtype=torch.float64)
    angle = place * frequencies(D)
    both = turn(x[None], phase(angle, x.dtype), "interleaved")
    return both[0]


def data() -> list[tuple[int, int, int, float, float, float, float]]:
    """A row per pair of places, in the order of HEADS."""
    q, k = vectors()
    return [
        (
            m,
            n,
            m - n,
            float(q @ k),
            float(turned(q, m) @ turned(k, n)),
            float(q @ turned(k, m - n)),
            float(q @ turned(k, n - m)),
        )
        for m, n in PLACES
    ]


def show() -> str:
    rows = []
    for m, n, apart, *products in data():
        written = [f"{product:.6f}" for product in products]
        rows.append([str(m), str(n), str(apart), *written])
    return "\n".join(
        [
            aligned([list(HEADS), *rows]),
            "",
            (
                "Turned or not, what counts is m - n: rows of one distance agree, a million "
                "tokens on as well, and q.k returns where m = n."
            ),
            (
                "The fifth and the last column agree: R_m^T R_n = R_{n-m}. The sixth is what a "
                "rotation of the opposite sense would give for"
            ),
            (
                "<R_m q, R_n k>: clockwise, the values of +10 and -10 change places. A text that "
                "prints one of them tells its convention by it."
            ),
        ]
    )
