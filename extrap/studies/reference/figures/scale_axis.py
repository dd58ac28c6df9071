"""Retrieval and perplexity past L against the size of the model: does the order of schemes hold?

A column per training length. Read at the greatest multiple of L that every run was asked, up to 4.
A line is the mean over all seeds, those below the gate among them; thin lines join the sizes of one
seed, bars are t-intervals over seeds from three on. Under the curves of a panel stands Spearman's
rank correlation between the order of schemes in the smallest models and that in each larger size.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from extrap.figures.drawing import (
    End,
    entitle,
    label_ends,
    note,
    panels,
    perplexity_axis,
    scheme_style,
    thin_lines,
)
from extrap.results.rows import comparable
from extrap.results.series import CONTROLS, select, told_apart
from extrap.results.stats.intervals import mean_over_seeds
from extrap.results.stats.ranks import spearman

PLAIN = {"metric": "accuracy", "extension": "direct"}
NEEDS = PLAIN | {"task": "kv", "protocol": "records", "seen": "retrieval"}
LOSS = PLAIN | {"task": "nll", "metric": "nll", "protocol": "nonoverlap", "seen": "text"}
ALSO = (LOSS,)
OF, MAKE = " of models of several sizes", " model.layers=2,4"
FURTHEST = 4
APART = 1.3
"""Ratio of parameters from which two models count as different sizes, not as two schemes."""


def enough(rows) -> bool:
    by_length = rows.groupby("train_length")["params"]
    counts = by_length.agg(lambda params: sizes(params).nunique())
    return counts.max() > 1


def sizes(params: pd.Series) -> pd.Series:
    """Returns the size of each model: the least number of parameters among models of its size."""
    known = np.sort(params.astype(float).unique())
    jumps = known[1:] / known[:-1] > APART
    begins = known[np.r_[True, jumps]]
    group = np.searchsorted(begins, params, "right") - 1
    return pd.Series(begins[group], params.index)


def points(rows: pd.DataFrame, needs: dict) -> pd.DataFrame:
    """Returns one value per run (scheme, train_length, size, seed), at the greatest multiple of L
    that all runs have: the mean over depths if there are some. Controls, whose runs have the same
    names, are left out if there are other runs. Schemes of several settings or data have names of
    their own.
    """
    rows = comparable(select(rows, **needs))
    mixtures = rows[~rows["data"].isin(CONTROLS)]
    if len(mixtures):
        rows = mixtures
    of_runs = [set(part) for _, part in rows.groupby("run")["multiple"]]
    common = set.intersection(*of_runs)
    furthest = max((m for m in common if m <= FURTHEST), default=1)
    rows = rows[rows["multiple"] == furthest]
    rows = rows.assign(size=sizes(rows["params"]), lost=rows["status"] == "not trained")
    if rows["data"].nunique() > 1:
        rows["scheme"] += " (" + rows["data"] + ")"
    rows["scheme"] += told_apart(rows, ["scheme", "train_length", "size"])
    by = ["scheme", "train_length", "size", "seed", "multiple"]
    groups = rows.groupby(by, as_index=False)
    return groups.agg(value=("value", "mean"), lost=("lost", "any"))


def draw(rows):
    found = [points(rows, NEEDS)]
    if len(select(rows, **LOSS)):
        loss = points(rows, LOSS)
        found.append(loss.assign(value=np.exp(loss["value"])))
    lengths = sorted(found[0]["train_length"].unique())
    schemes = sorted(found[0]["scheme"].unique())
    margins = {"labels": schemes, "gap": 0.25, "between": 0.35}
    shape = (len(found), len(lengths))
    figure, axes = panels(shape, (2.3, 1.9), **margins)
    for (i, j), panel in np.ndenumerate(axes):
        table = found[i]
        part = table[table["train_length"] == lengths[j]]
        ends = []
        for scheme in schemes:
            own = part[part["scheme"] == scheme]
            ends.append(line(panel, scheme, own))
        size_axis(panel, part, i == len(found) - 1)
        if i == 0:
            panel.set_ylim(-0.13, 1.05)  # room for the correlation below a line at 0
        else:
            perplexity_axis(panel)
            panel.set_ylim(table["value"].min() / 1.2, table["value"].max() * 1.15)
        within = {"xycoords": "axes fraction", "fontsize": 6.5, "color": "#333333"}
        panel.annotate(agreement(part), (0.04, 0.04), **within)
        panel.set_title(f"trained at {lengths[j]} tokens" if i == 0 else "")
        what = "accuracy" if i == 0 else "perplexity per token"
        panel.set_ylabel(f"{what} at {table['multiple'].iloc[0]:g}x" if j == 0 else "")
        panel.tick_params(labelleft=j == 0)
        if j == len(lengths) - 1:
            ends = apart(panel, part["size"], ends)
            label_ends(panel, ends)
    below = (
        f"{note(rows)} · mean of all seeds, thin: seeds; bars: 95 % t-interval over seeds from 3 "
        "on; hollow: all seeds below the gate of retrieval · "
        "ρ: rank correlation with the order of the smallest models, by size"
    )
    entitle(figure, "Does the order of schemes hold over sizes?", below)
    return figure


def agreement(part: pd.DataFrame) -> str:
    """Returns `ρ = 0.90, 1.00`: for each larger size the rank correlation with the smallest."""
    means = part.groupby(["size", "scheme"])["value"].mean()
    (least, *larger) = sorted(part["size"].unique())
    if not larger:
        return ""
    texts = []
    for size in larger:
        rho = spearman(means[least], means[size])
        texts.append("-" if np.isnan(rho) else f"{rho:.2f}")
    return f"ρ = {', '.join(texts)}"


def line(panel, scheme: str, rows: pd.DataFrame) -> End:
    """Draws `points` of one scheme over sizes; returns where the line ends."""
    style = scheme_style(scheme)
    if rows.empty:
        return End(scheme, style, 0.0, np.nan)
    table = rows.pivot(index="size", columns="seed", values="value").sort_index()
    middle = table.mean(axis=1)
    thin_lines(panel, table, style)
    for size, values in table.iterrows():
        _, *ends = mean_over_seeds(values.dropna())
        if np.isfinite(ends).all():
            bar = {"color": style.colour, "lw": 0.8, "alpha": 0.7}
            panel.plot([size, size], ends, label="_interval", **bar)
    known = middle.index
    panel.plot(known, middle, label=scheme, zorder=3, **style.stroke)
    lost = rows.groupby("size")["lost"].all()
    below = lost.index[lost]
    hollow = {"color": style.colour, "marker": style.marker, "markerfacecolor": "white", "lw": 0}
    panel.plot(below, middle[lost], label="_below the gate", zorder=4, **hollow)
    return End(scheme, style, known[-1], middle.iloc[-1])


def apart(panel, sizes: pd.Series, ends: list[End]) -> list[End]:
    """Returns ends without leaders that would pass for lines: from one size alone, and from schemes
    that larger models lack.
    """
    if sizes.nunique() == 1:
        _, right = panel.get_xlim()
        return [replace(end, x=right, elsewhere=bool(np.isnan(end.y))) for end in ends]
    largest = sizes.max()
    return [replace(end, elsewhere=end.x < largest) for end in ends]


def size_axis(panel, rows: pd.DataFrame, named: bool = True) -> None:
    """Makes the x axis of sizes; named: writes its numbers and its name."""
    known = sorted(rows["size"].unique())
    panel.set_xscale("log")
    panel.set_xlim(min(known) / 1.3, max(known) * 1.3)
    names = [f"{size / 1e6:.2g} M" for size in known]
    panel.set_xticks(known, names if named else [])
    panel.set_xticks([], minor=True)
    panel.set_xlabel("parameters" if named else "")
