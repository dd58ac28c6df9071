"""The best factor per task: what a method should be set for at each length, by text loss, retrieval
and repeated text.

A line per method that was read with several factors, untuned, on the scheme with most methods; 1 is
the plain reader. Lines are moved apart by a hair.
"""

from extrap.figures.drawing import (
    End,
    entitle,
    label_ends,
    log2_axis,
    method_style,
    note,
    panels,
    ticks,
)
from extrap.figures.drawing.ends import all_ends
from extrap.results.methods import PROBES, methods
from extrap.results.series import select
from extrap.studies.extension.methods import of_main_parent, order, title

NEEDS = {"task": "nll", "metric": "nll", "protocol": "last_segment", "seen": "text"}
OF = " of methods set for several factors"
MAKE = " extension=pi,ntk extension.factor=2,4,8"
RETRIEVAL = {"task": "kv", "metric": "accuracy", "protocol": "records", "seen": "retrieval"}
FACTORS = (1, 2, 4, 8, 16)
TASKS = {
    "text: least loss": NEEDS,
    "retrieval: most found": {"task": "kv", "metric": "accuracy", "protocol": "records"}
    | {"seen": "retrieval"},
    "repeated text: most right": {"task": "repeat", "metric": "accuracy", "protocol": "later"},
}
ALSO = tuple(TASKS.values())


def enough(rows) -> bool:
    found = untuned(methods(rows))
    return len(_several(of_main_parent(found))) > 0


def untuned(rows):
    """Returns the rows of the first seed that were read untuned, without options and log-n."""
    rows = rows[rows["seed"] == rows["seed"].min()]
    plain = (rows["options"] == "") & ~rows["log_n"]
    return rows[rows["tuned"].isna() & plain]


def _several(rows) -> list[str]:
    """Returns the methods that were set for several factors."""
    extended = rows[rows["set_for"] > 1]
    counts = extended.groupby("method")["set_for"].nunique()
    several = {*counts.index[counts > 1]}
    return order(several - {*PROBES})


def best(rows, shown: list[str]):
    """Returns {(method, length over training length): factor}, of ties the smaller factor."""
    sign = 1 if set(rows["metric"]) == {"nll"} else -1
    found = {}
    for method in shown:
        if not rows["method"].eq(method).any():  # not of this task
            continue
        read = rows[rows["method"].isin((method, "direct"))]
        means = read.groupby(["set_for", "multiple"])["value"].mean().unstack()
        signed = (sign * means).round(9)
        for at, factor in signed.idxmin().items():
            found[method, at] = factor
    return found


def draw(rows):
    rows = untuned(of_main_parent(methods(rows)))
    parts = {name: select(rows, **asked) for name, asked in TASKS.items()}
    parts = {name: part for name, part in parts.items() if len(part)}
    shown = _several(rows)
    labels = [title(m) for m in shown]
    figure, axes = panels((1, len(parts)), (2.0, 2.0), labels=labels, gap=0.35, top=0.5)
    of_parts: list[list[End]] = []
    for panel, (name, part) in zip(axes[0], parts.items(), strict=True):
        found = best(part, shown)
        top = max(found.values(), default=1.0)
        ends: list[End] = []
        of_parts.append(ends)
        for i, method in enumerate(shown):
            shift = 2 ** (0.04 * (i - len(shown) / 2))
            own = {multiple: factor for (m, multiple), factor in found.items() if m == method}
            multiples = sorted(own)
            if not multiples:  # not read in this task
                continue
            factors = [own[multiple] * shift for multiple in multiples]
            label = title(method)
            style = method_style(method)
            panel.plot(multiples, factors, label=label, **style.stroke)
            ends.append(End(label, style, multiples[-1], factors[-1]))
        panel.set_yscale("log", base=2)
        log2_axis(panel, FACTORS)
        for axis in (panel.xaxis, panel.yaxis):
            ticks(axis, FACTORS, "{x:g}x")
        panel.set(title=name, xlabel="evaluation length", ylim=(0.8, 2 * top / 1.5))
        if panel is axes[0, -1]:
            label_ends(panel, all_ends(of_parts))
    axes[0, 0].set_ylabel("best factor")
    below = f"{note(rows)} · untuned; 1: the plain reader; lines moved apart"
    entitle(figure, "The best factor per task", below)
    return figure
