"""Which pairs of RoPE come round within the training length, and what each extension does to them.

Wavelength 2 pi / theta_p and turns r_p = L theta_p / (2 pi): pairs below one turn meet angles
beyond L that training never showed. arXiv 2309.00071, section 3. At L = 128 no pair makes 32 turns,
so that YaRN's own limit would keep none: beta_fast is max(2, L / 64).
"""

from math import pi

import numpy as np

from extrap.extensions.by_parts import NTKByParts, YaRN, fastest, kept_by_turns
from extrap.extensions.ntk import NTK
from extrap.figures.drawing import INKS
from extrap.model.functional import frequencies
from extrap.model.spectrum import Pairs
from extrap.studies.analytic.figures.panel import decades, framed, named

NEEDS: dict = {}

WIDTH = 32
BASE = 1e4
LENGTH = 128
FACTOR = 8.0


def data(
    width: int = WIDTH, base: float = BASE, length: int = LENGTH, factor: float = FACTOR
) -> dict[str, np.ndarray]:
    """{method: (d/2,) theta in radians per token}, and `kept`: the share of each pair that the
    turns ramp leaves alone.
    """
    pairs = Pairs(frequencies(width, base), base, length)
    methods = {"NTK": NTK, "NTK by parts": NTKByParts, "YaRN (index ramp)": YaRN}
    found = {"as trained": pairs.theta, "interpolation": pairs.theta / factor}
    for name, method in methods.items():
        found[name] = method(factor).theta(pairs, factor)
    found["kept"] = kept_by_turns(pairs, 1.0, fastest(None, length))
    return {name: values.numpy() for name, values in found.items()}


def draw():
    found = data()
    index = np.arange(WIDTH // 2)
    kept = found.pop("kept")
    note = (
        f"d = {WIDTH}, base {BASE:g}, L = {LENGTH}, s = {FACTOR:g}; shaded: pairs below one turn "
        "within L; dashed: share of a pair that the turns ramp keeps"
    )
    figure, (waves, turns) = framed(
        ["wavelength", "full circles within L"],
        "RoPE: which pairs come round in training",
        note,
        right=0.6,
        gap=0.75,
        left=0.8,
    )
    styles = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)))
    for (name, theta), ink, line in zip(found.items(), INKS, styles, strict=False):
        stroke = {"color": ink, "linestyle": line, "linewidth": 1.2}
        wavelength = 2 * pi / theta
        circles = LENGTH * theta / (2 * pi)
        waves.plot(index, wavelength, label=name, **stroke)
        turns.plot(index, circles, **stroke)
    whole = LENGTH * found["as trained"] >= 2 * pi
    slow = int(whole.sum()) - 0.5
    end = index[-1] + 0.5
    for panel in (waves, turns):
        panel.set_yscale("log")
        decades(panel.yaxis)
        panel.axvspan(slow, end, color="#000000", alpha=0.06, linewidth=0)
        panel.set(xlabel="pair p", xlim=(-0.5, end))
    for height, label in ((LENGTH, "L"), (FACTOR * LENGTH, "s L")):
        waves.axhline(height, color="#222222", linewidth=0.6)
        waves.annotate(
            label,
            (index[-1] + 0.3, height),
            (0, 1.5),
            textcoords="offset points",
            fontsize=6.5,
            ha="right",
        )
    turns.axhline(1, color="#222222", linewidth=0.6)
    waves.set_ylabel("tokens")
    turns.set_ylabel("turns")
    ramp = turns.twinx()
    dashes = (0, (4, 1.5))
    ramp.plot(index, kept, color="#222222", linestyle=dashes, linewidth=0.8)
    ramp.set(ylim=(-0.05, 1.05), ylabel="share kept", yticks=(0, 0.5, 1))
    ramp.grid(visible=False)
    ramp.spines["right"].set_visible(True)
    named(waves, loc="upper left")
    return figure
