"""What more training and wider windows do: loss at 4 L by training steps, steps to 90 % by window.

Left: nats per token at 4 L (sliding) of models trained for so many steps, a line per scheme, with
95 % t-intervals over seeds. Right: the step from which the running accuracy of retrieval is .9 or
more, by the share of L that the windows of three layers see; a dot is a seed, and there is no mean
where some seed does not come there.
"""

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
from extrap.results.series import select
from extrap.results.stats.intervals import t_interval

NEEDS = {"task": "nll", "metric": "nll", "protocol": "sliding", "extension": "direct"}
OF = " of labels that name steps or share"
MAKE = " train.steps=750,1500 'label=rope_steps${train.steps}'"
TIMES = 4


def enough(rows) -> bool:
    found = recipes(rows)
    at = found["length"] == TIMES * found["train_length"]
    return bool((found["steps"].notna() & at).any() or found["share"].notna().any())


def draw(rows):
    known = recipes(comparable(rows))
    loss = select(known, **NEEDS)
    loss = loss[loss["steps"].notna() & (loss["length"] == TIMES * loss["train_length"])]
    wide = known[known["share"].notna()]
    panels = [(part, how) for part, how in ((loss, _steps), (wide, _shares)) if len(part)]
    labels = sorted({*loss["scheme"], *wide["scheme"]})
    margins = {"labels": labels, "each": True, "gap": 0.5, "top": 0.42}
    figure, axes = wrapped(len(panels), 2, (2.1, 2.2), **margins)
    for panel, (part, how) in zip(axes, panels, strict=True):
        label_ends(panel, how(panel, part))
    drawn = rows[rows["run"].isin([*loss["run"], *wide["run"]])]
    words = f"{note(drawn)} · thin lines and dots: seeds; intervals: 95 % over seeds from 3 on"
    entitle(figure, "More training, wider windows", words)
    return figure


def _steps(panel, rows: pd.DataFrame) -> list:
    """Draws loss over the steps of the training; a seed is one line over several runs."""
    seeds = rows.assign(run=rows["scheme"] + rows["seed"].astype(str))
    ends = [
        line(panel, part, "steps", scheme_style(scheme), scheme)
        for scheme, part in seeds.groupby("scheme")
    ]
    log2_axis(panel, sorted(rows["steps"].unique()))
    panel.set(xlabel="steps of training", ylabel=f"loss at {TIMES} L (nats per token)")
    return ends


def _shares(panel, rows: pd.DataFrame) -> list:
    """Draws the steps to 90 % over the width of the windows, with the mean where all come there."""
    found = select(rows, task="train", protocol="retrieval", metric="steps_to_90").sort_values(
        "run"
    )
    runs, ends = rows.groupby("share")["run"].nunique(), []
    for scheme, part in found.groupby("scheme"):
        style, means = scheme_style(scheme), {}
        for share, values in part.groupby("share")["value"]:
            dots = {"color": style.colour, "alpha": 0.6, "markersize": 3, "label": "_seed"}
            panel.plot([share] * len(values), values, ".", **dots)
            if len(values) == runs[share]:
                means[share] = values.mean()
            if len(values) == runs[share] >= 3:
                bar = {"color": style.colour, "linewidth": 1.0, "label": "_interval"}
                panel.plot([share] * 2, t_interval(values), **bar)
        mean = part.assign(run="mean", value=part["share"].map(means)).drop_duplicates("share")
        ends.append(line(panel, mean.dropna(subset="value"), "share", style, scheme, band=0))
    log2_axis(panel, sorted(rows["share"].unique()))
    panel.set(xlabel="window of three layers, share of L", ylabel="steps to 90 %")
    panel.set_ylim(bottom=0)
    return ends
