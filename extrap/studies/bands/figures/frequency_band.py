"""Which frequencies heads use against the width of dependencies: is the band 1 / W?

W is the number behind `_width` in a label, as experiment=bands writes it. A small dot is a head of
one seed, the line the mean of the logarithms over heads and seeds. Dotted: 1 / W. The note holds
the slope of log band over log W by least squares of each seed, with its mean and its 95 %
t-interval over seeds from three on.
"""

import numpy as np
import pandas as pd

from extrap.figures.drawing import (
    DOTS,
    QUIET,
    End,
    entitle,
    label_ends,
    log2_axis,
    note,
    panels,
    perplexity_axis,
    scheme_style,
)
from extrap.results.findings.statistics import recipes
from extrap.results.rows import comparable
from extrap.results.series import select
from extrap.results.stats.intervals import mean_over_seeds

NEEDS = {"task": "rotary", "metric": "band", "extension": "direct"}
OF = " of labels that name three widths"
MAKE = " experiment=bands task=rotary"


def enough(rows) -> bool:
    return recipes(rows, ["width"])["width"].nunique() >= 3


def draw(rows):
    measured = select(comparable(rows), **NEEDS)
    known = recipes(measured, ["width"])
    at_length = known["length"] == known["train_length"]
    known = known[known["width"].notna() & at_length]
    known = known.sort_values(["scheme", "width", "run", "protocol", "layer", "head"])
    widths = np.sort(known["width"].unique())
    schemes = sorted(known["scheme"].unique())
    margins = {"labels": [*schemes, "1 / W"], "left": 0.75, "top": 0.42}
    figure, ((panel,),) = panels((1, 1), (2.6, 2.3), **margins)
    ends = []
    said = []
    for scheme in schemes:
        own = known[known["scheme"] == scheme]
        ends.append(_scheme(panel, scheme, own))
        said.append(f"{scheme}: {_words(slopes(own, widths))}")
    dotted = {"color": QUIET, "linestyle": DOTS, "linewidth": 0.9}
    panel.plot(widths, 1 / widths, label="1 / W", **dotted)
    perplexity_axis(panel)
    log2_axis(panel, widths)
    panel.set(xlabel="width W of dependencies (tokens)", ylabel="band (radians per token)")
    label_ends(panel, ends)
    words = f"{note(known)} · dots: heads; dotted: 1 / W · slope of log band, {' · '.join(said)}"
    entitle(figure, "The frequencies that heads use", words)
    return figure


def slopes(rows: pd.DataFrame, every: np.ndarray) -> np.ndarray:
    """Returns the slope of the mean log band over log W of each seed that has every width."""
    logs = rows.assign(value=np.log(rows["value"]))
    means = logs.groupby(["seed", "width"])["value"].mean()
    table = means.unstack().reindex(columns=every).dropna()
    widths = np.log(every)
    found = []
    for of_seed in table.to_numpy():
        slope, _ = np.polyfit(widths, of_seed, 1)
        found.append(slope)
    return np.array(found)


def _words(found: np.ndarray) -> str:
    if not len(found):
        return "no seed has every width"
    mean, low, high = mean_over_seeds(found)
    if np.isnan(low):
        return f"{mean:.2f}"
    return f"{mean:.2f} [{low:.2f}, {high:.2f}]"


def _scheme(panel, scheme: str, rows: pd.DataFrame) -> End:
    style = scheme_style(scheme)
    dots = {"color": style.colour, "alpha": 0.25, "markersize": 2.5, "label": "_head"}
    panel.plot(rows["width"], rows["value"], ".", **dots)
    logs = rows.assign(value=np.log(rows["value"]))
    middle = np.exp(logs.groupby("width")["value"].mean())
    widths = middle.index
    panel.plot(widths, middle, label=scheme, zorder=3, **style.stroke)
    return End(scheme, style, widths[-1], middle.iloc[-1])
