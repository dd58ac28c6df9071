"""What more training and wider windows do: loss at 4 L by steps of training, retrieval by window.

Left: nats per token at 4 L (sliding) of models trained for so many steps, a line per scheme, with
95 % t-intervals over seeds. The other panels: the share of L that the windows of three layers see.
Middle: the step from which the running accuracy of training questions is .9 or more. Right: what
is found at L at the depths beyond every window. A dot is a seed, hollow below the gate; a mean has
its interval over seeds, and of steps there is none where some seed does not come there or lies
below the gate: few questions of the training reach beyond a wide window.
"""

import numpy as np
import pandas as pd

from extrap.figures.drawing import (
    entitle,
    label_ends,
    line,
    log2_axis,
    note,
    scheme_style,
    wrapped,
)
from extrap.results.findings.statistics import recipes
from extrap.results.rows import comparable
from extrap.results.series import judged, select
from extrap.results.stats.intervals import mean_over_seeds

NEEDS = {"task": "nll", "metric": "nll", "protocol": "sliding", "extension": "direct"}
OF = " of labels that name steps or share"
MAKE = " train.steps=750,1500 'label=rope_steps${train.steps}'"
OPTIONS = ("steps", "share")
TIMES = 4


def enough(rows) -> bool:
    found = recipes(rows, OPTIONS)
    at = found["length"] == TIMES * found["train_length"]
    steps = found["steps"].notna() & at
    shares = found["share"].notna()
    return bool(steps.any() or shares.any())


def draw(rows):
    known = comparable(rows)
    known = recipes(known.assign(status=judged(known)), OPTIONS)
    loss = select(known, **NEEDS)
    at = loss["length"] == TIMES * loss["train_length"]
    loss = loss[loss["steps"].notna() & at]
    wide = known[known["share"].notna()]
    learned = select(wide, task="train", protocol="retrieval", metric="steps_to_90")
    parts = ((loss, _steps), (learned, _learned), (beyond(wide), _beyond))
    panels = [(part, how) for part, how in parts if len(part)]
    labels = sorted({*loss["scheme"], *wide["scheme"]})
    margins = {"labels": labels, "each": True, "gap": 0.5, "top": 0.42}
    figure, axes = wrapped(len(panels), 3, (2.1, 2.2), **margins)
    failed = select(wide, task="kv", protocol="records", status="not trained")
    below = {*failed["run"]}
    for panel, (part, how) in zip(axes, panels, strict=True):
        lost = part["run"].isin(below)
        ends = how(panel, part.assign(lost=lost))
        label_ends(panel, ends)
    runs = [*loss["run"], *wide["run"]]
    drawn = rows[rows["run"].isin(runs)]
    words = f"{note(drawn)} · thin lines and dots: seeds (hollow: below the gate)"
    words += "; intervals: 95 % over seeds from 3 on"
    entitle(figure, "More training, wider windows", words)
    return figure


def _steps(panel, rows: pd.DataFrame) -> list:
    """Draws loss over the steps of the training; a seed is one line over several runs."""
    seeds = rows.assign(run=rows["scheme"] + rows["seed"].astype(str))
    ends = []
    for scheme, part in seeds.groupby("scheme"):
        style = scheme_style(scheme)
        ends.append(line(panel, part, "steps", style, scheme))
    log2_axis(panel, sorted(rows["steps"].unique()))
    panel.set(xlabel="steps of training", ylabel=f"loss at {TIMES} L (nats per token)")
    return ends


def beyond(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns what each run finds at its training length at depths that no window of these rows
    reaches: a record at depth d lies (1 - d) L before its question.
    """
    found = select(rows, task="kv", metric="accuracy", protocol="records", extension="direct")
    found = found[found["length"] == found["train_length"]]
    distance = 1 - found["depth"]
    far = found[distance > rows["share"].max()]
    place = ["run", "seed", "scheme", "share"]
    return far.groupby(place, as_index=False)[["value", "low", "high"]].mean()


def _learned(panel, rows: pd.DataFrame) -> list:
    """Draws the steps to 90 %, with a mean where all seeds come there and pass the gate."""
    most = rows["seed"].nunique()

    def whole(part: pd.DataFrame) -> bool:
        return len(part) == most and not part["lost"].any()

    ends = _shares(panel, rows, whole)
    panel.set(ylabel="steps to 90 % in training")
    panel.set_ylim(bottom=0)
    return ends


def _beyond(panel, rows: pd.DataFrame) -> list:
    ends = _shares(panel, rows, lambda part: True)
    panel.set(ylabel="found beyond windows", ylim=(-0.03, 1.03))
    return ends


def _shares(panel, rows: pd.DataFrame, whole) -> list:
    """Draws a dot for each seed over the width of the windows, and means of the parts that are
    `whole`, with their interval from three seeds on.
    """
    ends = []
    for scheme, part in rows.sort_values("run").groupby("scheme"):
        style = scheme_style(scheme)
        means = {}
        for share, seeds in part.groupby("share"):
            _dots(panel, share, seeds, style)
            if not whole(seeds):
                continue
            means[share], *interval = mean_over_seeds(seeds["value"])
            if np.isfinite(interval).all():
                bar = {"color": style.colour, "linewidth": 1.0, "label": "_interval"}
                panel.plot([share] * 2, interval, **bar)
        values = part["share"].map(means)
        mean = part.assign(run="mean", value=values).drop_duplicates("share")
        drawn = mean.dropna(subset="value")
        ends.append(line(panel, drawn, "share", style, scheme, band=0))
    log2_axis(panel, sorted(rows["share"].unique()))
    panel.set(xlabel="window of three layers, share of L")
    return ends


def _dots(panel, share: float, seeds: pd.DataFrame, style) -> None:
    """Draws the seeds of one width, hollow below the gate."""
    for lost, part in seeds.groupby("lost"):
        face = "white" if lost else style.colour
        look = {"color": style.colour, "markerfacecolor": face, "markersize": 3.4, "zorder": 4}
        x = [share] * len(part)
        panel.plot(x, part["value"], "o", label="_seed", **look)
