"""What RoPE finds and loses by its base, a line per training length.

Accuracy of key-value retrieval within L, at 2 L and at 4 L, and the sliding loss at 4 L. Mean over
seeds with its 95 % interval; thin lines are seeds. Ticks at the foot of a panel, in the colour of a
training length: the least base from which on the sum of cos(m theta) is positive at every distance
m below the length of the panel (arXiv 2405.14591), for heads of 16 channels.
"""

import numpy as np
import pandas as pd

from extrap.figures.drawing import INKS, entitle, label_ends, line, note, panels
from extrap.figures.drawing.axes import ticks
from extrap.figures.drawing.style import SOLID, Style
from extrap.figures.kv_length import means
from extrap.results.findings.statistics import recipes
from extrap.results.rows import comparable
from extrap.results.series import select

FOUND = {"task": "kv", "metric": "accuracy", "protocol": "records", "extension": "direct"}
LOSS = {"task": "nll", "metric": "nll", "protocol": "sliding", "extension": "direct"}
NEEDS = FOUND
OF = " of labels that name three bases"
MAKE = " experiment=base"
PANELS = ((FOUND, 1), (FOUND, 2), (FOUND, 4), (LOSS, 4))
HEAD_WIDTH = 16
MARKERS = ("o", "s", "^", "D")


def enough(rows) -> bool:
    return recipes(rows, ["base"])["base"].nunique() >= 3


def draw(rows):
    found = select(means(rows), **FOUND)
    loss = select(comparable(rows), **LOSS)
    known = recipes(pd.concat([found, loss]), ["base"])
    known = known[known["base"].notna()]
    known = known.assign(run=known["seed"].astype(str))  # a line is a seed over bases
    lengths = sorted(known["train_length"].unique())
    styles = {}
    for n, ink, mark in zip(lengths, INKS, MARKERS, strict=False):
        styles[n] = Style(ink, SOLID, mark)
    names = [f"L = {n}" for n in lengths]
    figure, axes = panels((1, 4), (1.75, 2.1), labels=names, gap=0.5, top=0.6)
    for panel, (what, times) in zip(axes[0], PANELS, strict=True):
        here = select(known, **what)
        at = times * here["train_length"]
        here = here[here["length"] == at]
        within = (0, 1) if what is FOUND else (-np.inf, np.inf)
        ends = []
        for n, style in styles.items():
            own = here[here["train_length"] == n]
            ends.append(line(panel, own, "base", style, f"L = {n}", within=within))
            least = base_bound(times * n)
            if least is not None:
                tick = {"color": style.colour, "markersize": 7, "label": "_bound"}
                tick["transform"] = panel.get_xaxis_transform()
                panel.plot([least], [0.02], "|", **tick)
        panel.set_xscale("log")
        ticks(panel.xaxis, [100, 1000, 10_000, 100_000], lambda base, _: f"1e{np.log10(base):.0f}")
        panel.set(xlabel="base", title=_title(what, times))
        if what is FOUND:
            panel.set_ylim(0, 1.02)
    axes[0, 0].set_ylabel("accuracy")
    axes[0, 3].set_ylabel("nats per token")
    label_ends(axes[0, 3], ends)
    entitle(figure, "The base of RoPE", f"{note(rows)} · ticks: the bound of each length")
    return figure


def _title(what: dict, times: int) -> str:
    at = "L" if times == 1 else f"{times} L"
    return f"found at {at}" if what is FOUND else f"loss at {at}"


def base_bound(length: int, width: int = HEAD_WIDTH) -> float | None:
    """Returns the least base of a scan up to 10^7 at which B(m) = sum_p cos(m theta_p) is positive
    for every distance m < length; None if no base of the scan is.
    """
    import torch  # `extrap plot --list` reads this file and waits for no torch

    from extrap.model.functional import frequencies

    distances = torch.arange(length, dtype=torch.float64)[:, None]
    for base in np.geomspace(2, 1e7, 4000):
        angle = distances * frequencies(width, base)
        sums = angle.cos().sum(-1)
        if bool(sums.min() >= 0):
            return float(base)
    return None
