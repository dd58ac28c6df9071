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
from extrap.results.series import CONTROLS, select
from extrap.results.stats.intervals import mean_over_seeds
from extrap.results.stats.ranks import spearman

PLAIN = {"metric": "accuracy", "extension": "direct"}
NEEDS = PLAIN | {"task": "kv", "protocol": "records", "seen": "retrieval"}
LOSS = PLAIN | {"task": "nll", "metric": "nll", "protocol": "nonoverlap", "seen": "text"}
OF, MAKE = " of models of several sizes", " model.layers=2,4"
FURTHEST = 4
APART = 1.3
"""Ratio of parameters from which two models count as different sizes, not as two schemes."""


def enough(rows) -> bool:
    return rows.groupby("train_length")["params"].agg(lambda of: sizes(of).nunique()).max() > 1


def sizes(params: pd.Series) -> pd.Series:
    """Returns the size of each model: the least number of parameters among models of its size."""
    known = np.sort(params.astype(float).unique())
    begins = known[np.r_[True, known[1:] / known[:-1] > APART]]
    return pd.Series(begins[np.searchsorted(begins, params, "right") - 1], params.index)


def points(rows: pd.DataFrame, needs: dict) -> pd.DataFrame:
    """Returns one value per run (scheme, train_length, size, seed), at the greatest multiple of L
    that all runs have: the mean over depths if there are some. Controls, whose runs have the same
    names, are left out if there are other runs.
    """
    rows = comparable(select(rows, **needs))
    if len(mixtures := rows[~rows["data"].isin(CONTROLS)]):
        rows = mixtures
    common = set.intersection(*(set(part) for _, part in rows.groupby("run")["multiple"]))
    rows = rows[rows["multiple"] == max((m for m in common if m <= FURTHEST), default=1)]
    rows = rows.assign(size=sizes(rows["params"]), lost=rows["status"] == "not trained")
    by = ["scheme", "train_length", "size", "seed", "multiple"]
    return rows.groupby(by, as_index=False).agg(value=("value", "mean"), lost=("lost", "any"))


def draw(rows):
    found = [points(rows, NEEDS)]
    if len(select(rows, **LOSS)):
        loss = points(rows, LOSS)
        found.append(loss.assign(value=np.exp(loss["value"])))
    lengths = sorted(found[0]["train_length"].unique())
    schemes = sorted(found[0]["scheme"].unique())
    margins = {"labels": schemes, "gap": 0.25, "between": 0.35}
    figure, axes = panels((len(found), len(lengths)), (2.3, 1.9), **margins)
    for (i, j), panel in np.ndenumerate(axes):
        part = found[i][found[i]["train_length"] == lengths[j]]
        ends = [line(panel, scheme, part[part["scheme"] == scheme]) for scheme in schemes]
        size_axis(panel, part, i == len(found) - 1)
        if i == 0:
            panel.set_ylim(-0.13, 1.05)  # room for the correlation below a line at 0
        else:
            perplexity_axis(panel)
            panel.set_ylim(found[i]["value"].min() / 1.2, found[i]["value"].max() * 1.15)
        within = {"xycoords": "axes fraction", "fontsize": 6.5, "color": "#333333"}
        panel.annotate(agreement(part), (0.04, 0.04), **within)
        panel.set_title(f"trained at {lengths[j]} tokens" if i == 0 else "")
        what = "accuracy" if i == 0 else "perplexity per token"
        panel.set_ylabel(f"{what} at {found[i]['multiple'].iloc[0]:g}x" if j == 0 else "")
        panel.tick_params(labelleft=j == 0)
        if j == len(lengths) - 1:
            label_ends(panel, apart(panel, part["size"], ends))
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
    numbers = [spearman(means[least], means[size]) for size in larger]
    text = ", ".join("-" if np.isnan(number) else f"{number:.2f}" for number in numbers)
    return f"ρ = {text}"


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
            panel.plot([size] * 2, ends, color=style.colour, lw=0.8,
                       alpha=0.7, label="_interval")  # fmt: skip
    panel.plot(middle.index, middle, label=scheme, zorder=3, **style.stroke)
    lost = rows.groupby("size")["lost"].all()
    hollow = {"color": style.colour, "marker": style.marker, "markerfacecolor": "white", "lw": 0}
    panel.plot(lost.index[lost], middle[lost], label="_below the gate", zorder=4, **hollow)
    return End(scheme, style, middle.index[-1], middle.iloc[-1])


def apart(panel, sizes: pd.Series, ends: list[End]) -> list[End]:
    """Returns ends without leaders that would pass for lines: from one size alone, and from schemes
    that larger models lack.
    """
    if sizes.nunique() == 1:
        return [replace(end, x=panel.get_xlim()[1]) for end in ends]
    return [replace(end, elsewhere=end.x < sizes.max()) for end in ends]


def size_axis(panel, rows: pd.DataFrame, named: bool = True) -> None:
    """Makes the x axis of sizes; named: writes its numbers and its name."""
    known = sorted(rows["size"].unique())
    panel.set_xscale("log")
    panel.set_xlim(min(known) / 1.3, max(known) * 1.3)
    panel.set_xticks(known, [f"{size / 1e6:.2g} M" for size in known] if named else [])
    panel.set_xticks([], minor=True)
    panel.set_xlabel("parameters" if named else "")
