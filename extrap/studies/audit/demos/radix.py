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

RADIX, PLACES, N, S = 10, 3, 1749, 2
D, BASE, LENGTH, FACTOR = 8, 10000.0, 64, 4.0


def digits(n: float, radix: int, places: int) -> list[float]:
    """Highest first; what is no whole number stays in the lowest."""
    high = [floor(n / radix**m) % radix for m in range(places - 1, 0, -1)]
    return [*high, n % radix]


def ways() -> dict[str, tuple[int, float, list[float]]]:
    """(radix, number written, its digits): the smallest whole radix that writes all below s
    beta**places is NTK's.
    """
    larger = next(beta for beta in range(RADIX, 10 * RADIX) if beta**PLACES >= S * RADIX**PLACES)
    return {
        "trained": (RADIX, 759, digits(759, RADIX, PLACES)),
        "extrapolation": (RADIX, N, digits(N, RADIX, PLACES + 1)),
        "interpolation": (RADIX, N / S, digits(N / S, RADIX, PLACES)),
        "NTK": (larger, N, digits(N, larger, PLACES)),
    }


def angles() -> dict[str, list[float]]:
    """theta_p of the pairs of d = 8, base 10000, s = 4."""
    theta = frequencies(D, BASE)
    return {
        "extrapolation": theta.tolist(),
        "interpolation": (theta / FACTOR).tolist(),
        "NTK": bloc97(Pairs(theta, BASE, LENGTH), FACTOR).tolist(),
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
    turns = [["theta_p", *(f"p={p}" for p in range(D // 2))]]
    for name, theta in angles().items():
        turns.append([name, *(f"{x:.9f}" for x in theta)])
    beta = BASE ** (2 / D)
    grown = torch.tensor(BASE * FACTOR ** (D / (D - 2))).item() ** (2 / D)
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
