"""Mean reciprocal rank of the schemes over tasks, on problems longer than in training: which
goes on best?

In each task the schemes are ranked by exact match over the untrained lengths, ties sharing a rank;
a bar is the mean of 1 / rank over tasks, then over seeds, points are seeds. Ranks need ten seeds to
mean much. Conventions of arXiv 2305.19466 (figure 1).
"""

import numpy as np
import pandas as pd

from extrap.figures.drawing import entitle, note, panels, style_of
from extrap.figures.length_generalisation import trained
from extrap.results.series import select, series
from extrap.results.stats.intervals import mean_over_seeds
from extrap.results.stats.ranks import TIED
from extrap.utils.errors import UserError

NEEDS = {"task": "algorithmic", "metric": "accuracy"}
MAKE, OF = " data=algorithmic seed=0,1,2", " of several schemes"


def enough(rows) -> bool:
    """True for two series and more, with a task and a seed that all of them have."""
    found = {s.label: s for s in series(rows.assign(status="ok"))}
    return len(found) > 1 and not ranks(found).empty


def draw(rows):
    borders = trained(rows)
    rows = select(rows, **NEEDS).assign(status="ok")
    far = rows[rows["at"] > rows["protocol"].map(borders).fillna(0)]
    found = {s.label: s for s in series(far)}
    table = ranks(found)
    if table.empty:
        problem = "no task has problems longer than in training that all series were asked"
        remedy = "evaluate all of them at task.algorithmic.multiples above 1"
        raise UserError("rows", problem=problem, remedy=remedy)
    order = table.mean(axis=1).sort_values().index
    left = 0.35 + 0.065 * max(map(len, order))
    figure, ((panel,),) = panels((1, 1), (3.6, 0.26 * len(order)), right=0.5, left=left)
    for place, label in enumerate(order):
        values = table.loc[label].to_numpy()
        style = style_of(found[label])
        mean, *ends = mean_over_seeds(values, (0, 1))
        panel.barh(place, mean, height=0.7, color=style.colour, alpha=0.75, label=label)
        if len(values) > 1:
            at = np.full(len(values), place)
            panel.plot(values, at, "o", color="black", markersize=2.2, lw=0, label="_seed")
        if np.isfinite(ends).all():
            panel.plot(ends, [place, place], color="black", linewidth=0.9, label="_interval")
        panel.text(1.02, place, f"{mean:.2f}", va="center", fontsize=7)
    panel.set(yticks=range(len(order)), xlim=(0, 1), ylim=(-0.6, len(order) - 0.4))
    panel.set_yticklabels(order)
    panel.set_xlabel("mean reciprocal rank")
    panel.grid(visible=False, axis="y")
    below = f"{note(rows)} · tasks: {', '.join(sorted(far['protocol'].unique()))}"
    below += " · points: seeds; lines: 95 % t-interval from 3 seeds on"
    entitle(figure, "Rank beyond the trained lengths", below)
    return figure


def ranks(found: dict) -> pd.DataFrame:
    """Returns (label, seed): the mean over tasks of 1 / rank, of the seeds that all series have."""
    scores = {
        label: s.rows.groupby(["protocol", "seed"])["value"].mean() for label, s in found.items()
    }
    together = pd.DataFrame(scores).dropna()
    if together.empty:
        return together
    places = together.round(TIED).rank(axis=1, ascending=False)
    return (1 / places).groupby("seed").mean().T
