"""ReRoPE by its window: accuracy on repeated and non-repeated text against w / L
(https://kexue.fm/archives/9708).

Solid: second and later copies of a text of one training length; dashed: running text; both at the
greatest length that was measured. A colour per training, hollow with log-n at test alone. Dotted:
running text within the training length, read by the plain model.
"""

import pandas as pd
from matplotlib.ticker import PercentFormatter

from extrap.figures.drawing import (
    DASHED,
    INKS,
    SOLID,
    Style,
    bound,
    entitle,
    label_ends,
    line,
    log2_axis,
    note,
    panels,
)
from extrap.results.methods import methods
from extrap.results.series import select
from extrap.studies.extension.methods import value

NEEDS = {"task": "repeat", "metric": "accuracy"}
OF = " of extension=rerope with several widths"
MAKE = " extension=rerope extension.width=16,32,64"
PROTOCOLS = {
    "later": (SOLID, "D", "later copies"),
    "nonrepeated": (DASHED, "o", "running text"),
}


def enough(rows) -> bool:
    windows = _windows(methods(rows))
    return windows["width"].nunique() > 1


def _windows(rows):
    """Returns the rows of ReRoPE, untuned, with their window in training lengths, .5 without the
    option.
    """
    rows = rows[(rows["method"] == "rerope") & rows["tuned"].isna()]
    options = rows["options"]
    width = options.str.extract(r"^(?:first\.)?width=(\d+)$")[0].astype(float)
    rows = rows[(options == "") | width.notna()]
    share = width / rows["train_length"].astype(float)
    rows = rows.assign(width=share.fillna(0.5))
    place = ["run", "task", "metric", "log_n", "protocol", "length", "depth", "axis", "at", "width"]
    return rows.drop_duplicates(place)  # with and without the option


def _whole(rows):
    """Returns the rows of the seeds with most widths: a line joins means of the same seeds."""
    widths = rows.groupby("seed")["width"].nunique()
    whole = widths.index[widths == widths.max()]
    return rows[rows["seed"].isin(whole)]


def draw(rows):
    every = select(methods(rows), **NEEDS)
    rows = _windows(every)
    far = max(rows["multiple"])
    parents = sorted(rows["parent"].unique())
    rows = rows[(rows["multiple"] == far) & rows["protocol"].isin(PROTOCOLS)]
    groups = {}
    for (parent, log_n), part in rows.groupby(["parent", "log_n"], sort=True):
        name = f"{parent}, log-n at test" if log_n else parent
        groups[name] = _whole(part)
    rows = pd.concat(groups.values())
    labels = [f"{name}: later copies" for name in groups]
    figure, ((panel,),) = panels((1, 1), (3.4, 2.5), labels=labels, top=0.5)
    ends = []
    for name, part in groups.items():
        index = parents.index(part["parent"].iloc[0])
        ink = INKS[index % len(INKS)]
        filled = not part["log_n"].iloc[0]
        for protocol, (dashes, marker, what) in PROTOCOLS.items():
            style = Style(ink, dashes, marker, filled=filled)
            here = part[part["protocol"] == protocol]
            end = line(panel, here, "width", style, f"{name}: {what}")
            ends.append(end)
    plain = select(every, extension="direct", protocol="nonrepeated", parent=parents[0])
    within = value(plain[(plain["multiple"] == 1) & plain["tuned"].isna()])
    if within:
        bound(panel.axhline, within[0], "plain within L")
    log2_axis(panel, sorted(rows["width"].unique()))
    panel.set(xlabel="window w over the training length", ylabel=f"token accuracy at {far:g}x")
    panel.yaxis.set_major_formatter(PercentFormatter(1, 0))
    label_ends(panel, ends)
    below = "solid: later copies, dashed: running text; dotted: plain reader within L"
    entitle(figure, "ReRoPE by its window", f"{note(rows)} · {below}")
    return figure
