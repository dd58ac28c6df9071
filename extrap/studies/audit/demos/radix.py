"""Positions as numbers in a radix: extrapolation, interpolation and NTK as three ways of writing a
larger number.

Digit m of n in radix beta is floor(n / beta**(m-1)) mod beta, the lowest being m = 1; pair m of a
sinusoid or of RoPE turns by n / beta**(m-1) with beta = base**(2/d), a digit without the floor. A
model that met 0 .. 999 reads 1749, twice as far (s = 2). https://kexue.fm/archives/9675

Run: python results/audit/demos radix
"""

from math import floor

import torch

from extrap.extensions.ntk import bloc97
from extrap.model.functional import frequencies
from extrap.model.spectrum import Pairs
from extrap.studies.audit.demos.lines import aligned

RADIX = 10
PLACES = 3
N = 1749
S = 2
D = 8
BASE = 10000.0
LENGTH = 64
FACTOR = 4.0


def digits(n: float, radix: int, places: int) -> list[float]:
    """Highest first; what is no whole number stays in the lowest."""
    powers = range(places - 1, 0, -1)
    high = [floor(n / radix**m) % radix for m in powers]
    return [*high, n % radix]


def ways() -> dict[str, tuple[int, float, list[float]]]:
    """(radix, number written, its digits): the smallest whole radix that writes all below s
    beta**places is NTK's.
    """
    numbers = S * RADIX**PLACES
    larger = next(beta for beta in range(RADIX, 10 * RADIX) if beta**PLACES >= numbers)
    interpolated = N / S
    return {
        "trained": (RADIX, 759, digits(759, RADIX, PLACES)),
        "extrapolation": (RADIX, N, digits(N, RADIX, PLACES + 1)),
        "interpolation": (RADIX, interpolated, digits(interpolated, RADIX, PLACES)),
        "NTK": (larger, N, digits(N, larger, PLACES)),
    }


def angles() -> dict[str, list[float]]:
    """theta_p of the pairs of d = 8, base 10000, s = 4."""
    theta = frequencies(D, BASE)
    interpolated = theta / FACTOR
    ntk = bloc97(Pairs(theta, BASE, LENGTH), FACTOR)
    return {
        "extrapolation": theta.tolist(),
        "interpolation": interpolated.tolist(),
        "NTK": ntk.tolist(),
    }


def show() -> str:
    new = {
        "trained": "",
        "extrapolation": "a place that was always 0",
        "interpolation": f"lowest digits {1 / S:g} apart, once 1",
        "NTK": f"digits {RADIX} to {ways()['NTK'][0] - 1}; neighbours still 1 apart",
    }
    rows = [["", "radix", "number", "digits", "new to the model"]]
    for name, (radix, n, found) in ways().items():
        written = " ".join(f"{digit:g}" for digit in found)
        rows.append([name, str(radix), f"{n:g}", written, new[name]])
    heads = [f"p={p}" for p in range(D // 2)]
    turns = [["theta_p", *heads]]
    for name, theta in angles().items():
        written = [f"{x:.9f}" for x in theta]
        turns.append([name, *written])
    beta = BASE ** (2 / D)
    base = torch.tensor(BASE * FACTOR ** (D / (D - 2)))
    grown = base.item() ** (2 / D)
    return "\n".join(
        [
            aligned(rows),
            "",
            (
                f"The same of pairs that turn (d = {D}, base {BASE:g}, so beta = {beta:g}; s = "
                f"{FACTOR:g}):"
            ),
            aligned(turns),
            (
                f"NTK's radix is {grown:.6f} = beta s**(2/(d-2)): the first pair is kept, the "
                "last slowed by s as by interpolation."
            ),
        ]
    )
