"""The best factor per task: what a method should be set for at each length, by text loss, retrieval
and repeated text.

A line per method that was read with several factors, untuned, on the scheme with most methods; 1 is
the plain reader. Lines are moved apart by a hair.
"""

from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from extrap.figures.drawing.axes import note
from extrap.figures.drawing.ends import End, label_ends, label_height, label_room
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.style import method_style
from extrap.figures.drawing.titles import entitle
from extrap.results.methods import methods, of_main_parent, order, title
from extrap.results.series import select

NEEDS = {"task": "nll", "metric": "nll", "protocol": "last_segment", "seen": "text"}
OF = " of methods set for several factors"
MAKE = " extension=pi,ntk extension.factor=2,4,8"
TASKS = {
    "text: least loss": NEEDS,
    "retrieval: most found": {
        "task": "kv",
        "metric": "accuracy",
        "protocol": "records",
        "seen": "retrieval",
    },
    "repeated text: most right": {"task": "repeat", "metric": "accuracy", "protocol": "later"},
}


def enough(rows) -> bool:
    return len(_several(methods(rows))) > 0


def _several(rows) -> list[str]:
    rows = rows[
        rows["tuned"].isna() & (rows["options"] == "") & ~rows["log_n"] & (rows["set_for"] > 1)
    ]
    counts = rows[rows["method"] != "pi-pair"].groupby("method")["set_for"].nunique()
    return order(counts.index[counts > 1])


def best(rows, shown: list[str]):
    """{(method, length over training length): factor} of the first seed."""
    rows = rows[rows["tuned"].isna() & (rows["options"] == "") & ~rows["log_n"]]
    rows = rows[rows["seed"] == rows["seed"].min()]
    sign = 1 if set(rows["metric"]) == {"nll"} else -1
    scores = (
        (sign * rows["value"])
        .groupby([rows["method"], rows["set_for"], rows["multiple"]])
        .mean()
        .round(9)
    )  # ties to the smaller
    found = {}
    for method in shown:
        table = (
            scores.loc[[m for m in (method, "direct") if m in scores.index.levels[0]]]
            .droplevel("method")
            .unstack("multiple")
        )
        found |= {
            (method, multiple): table[multiple].idxmin()
            for multiple in table
            if table[multiple].notna().any()
        }
    return found


def draw(rows):
    rows = of_main_parent(methods(rows))
    parts = {name: select(rows, **asked) for name, asked in TASKS.items()}
    parts = {name: part for name, part in parts.items() if len(part)}
    shown = _several(rows)
    room = label_room([title(m) for m in shown])
    figure, axes = panels(
        (1, len(parts)), (2.0, label_height(len(shown), 2.0)), right=room, gap=0.35, top=0.5
    )
    for panel, (name, part) in zip(axes[0], parts.items(), strict=True):
        found, ends = best(part, shown), []
        for i, method in enumerate(shown):
            points = sorted(
                (multiple, factor * 2 ** (0.04 * (i - len(shown) / 2)))
                for (m, multiple), factor in found.items()
                if m == method
            )
            style = method_style(method)
            panel.plot(*zip(*points, strict=True), label=title(method), **style.stroke)
            ends.append(End(title(method), style, *points[-1]))
        for axis, scale in ((panel.xaxis, panel.set_xscale), (panel.yaxis, panel.set_yscale)):
            scale("log", base=2)
            axis.set_major_locator(FixedLocator([1, 2, 4, 8, 16]))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}x"))
        panel.set(title=name, xlabel="evaluation length", ylim=(0.8, 2 * max(found.values()) / 1.5))
        if panel is axes[0, -1]:
            label_ends(panel, ends)
    axes[0, 0].set_ylabel("best factor")
    first = rows[rows["seed"] == rows["seed"].min()]
    entitle(
        figure,
        "The best factor per task",
        f"{note(first)} · untuned; 1: the plain reader; lines moved apart",
    )
    return figure
