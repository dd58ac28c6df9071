"""ReRoPE by its window: accuracy on repeated and non-repeated text against w / L
(https://kexue.fm/archives/9708).

Solid: second and later copies of a text of one training length; dashed: running text; both at the
greatest length that was measured. A colour per training, hollow with log-n at test alone. Dotted:
running text within the training length, read by the plain model.
"""

import pandas as pd
from matplotlib.ticker import FuncFormatter, PercentFormatter

from extrap.figures.drawing.axes import note
from extrap.figures.drawing.ends import label_ends, label_room
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.lines import line
from extrap.figures.drawing.style import DASHED, INKS, SOLID, Style
from extrap.figures.drawing.titles import entitle
from extrap.results.methods import methods, value
from extrap.results.series import select

NEEDS = {"task": "repeat", "metric": "accuracy"}
OF = " of extension=rerope with several widths"
MAKE = " extension=rerope extension.width=16,32,64"
PROTOCOLS = {"later": (SOLID, "later copies"), "nonrepeated": (DASHED, "running text")}


def enough(rows) -> bool:
    return len(_windows(rows)["width"].unique()) > 1


def _windows(rows):
    """The rows of ReRoPE with their window in training lengths; half of one unless an option says
    otherwise.
    """
    rows = methods(rows)
    rows = rows[rows["method"] == "rerope"]
    width = rows["options"].str.extract(r"^(?:first\.)?width=(\d+)$")[0].astype(float)
    rows = rows[(rows["options"] == "") | width.notna()]
    return rows.assign(width=(width / rows["train_length"].astype(float)).fillna(0.5))


def _whole(rows):
    """Of the seeds that were read with every width, or with as many as any was: a line over widths
    joins means of the same seeds.
    """
    widths = rows.groupby("seed")["width"].nunique()
    return rows[rows["seed"].isin(widths.index[widths == widths.max()])]


def draw(rows):
    every, rows = select(methods(rows), **NEEDS), select(_windows(rows), **NEEDS)
    far, parents = max(rows["multiple"]), sorted(rows["parent"].unique())
    rows = rows[(rows["multiple"] == far) & rows["protocol"].isin(PROTOCOLS)]
    groups = [(p, n, _whole(part)) for (p, n), part in rows.groupby(["parent", "log_n"], sort=True)]
    rows = pd.concat([part for *_, part in groups])
    names = [f"{parent}{', log-n at test' * bool(log_n)}" for parent, log_n, _ in groups]
    figure, ((panel,),) = panels(
        (1, 1),
        (3.4, 2.5),
        right=label_room([f"{name}: later copies" for name in names]),
        gap=0,
        top=0.5,
    )
    ends = []
    for name, (parent, log_n, part) in zip(names, groups, strict=True):
        for protocol, (dashes, what) in PROTOCOLS.items():
            style = Style(
                INKS[parents.index(parent) % len(INKS)],
                dashes,
                "D" if protocol == "later" else "o",
                filled=not log_n,
            )
            ends.append(
                line(panel, part[part["protocol"] == protocol], "width", style, f"{name}: {what}")
            )
    plain = every[
        (every["extension"] == "direct")
        & (every["protocol"] == "nonrepeated")
        & (every["multiple"] == 1)
        & every["tuned"].isna()
    ]
    if found := value(plain[plain["parent"] == parents[0]]):
        panel.axhline(
            found[0],
            color="#222222",
            linestyle=(0, (1, 1.6)),
            linewidth=0.8,
            label="plain within L",
            zorder=1,
        )
    panel.set_xscale("log", base=2)
    panel.set(
        xticks=sorted(rows["width"].unique()),
        xlabel="window w over the training length",
        ylabel=f"token accuracy at {far:g}x",
    )
    panel.xaxis.set_major_formatter(FuncFormatter(lambda w, _: f"{w:g}"))
    panel.yaxis.set_major_formatter(PercentFormatter(1, 0))
    label_ends(panel, ends)
    entitle(
        figure,
        "ReRoPE by its window",
        f"{note(rows)} · solid: later copies, dashed: running text; dotted: plain reader within L",
    )
    return figure
