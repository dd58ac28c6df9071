"""Who learns, how fast, how far? A line for each scheme: steps to 90 %, accuracy at L and past it.

Left: training step from which the running accuracy of retrieval is .9 or more (dots: seeds); a
scheme without a dot does not come there, and there is no mean where some of its seeds do not. The
other panels: accuracy of the records protocol, mean over depths, at those of L, 2L, 4L and 8L that
were read. Small dots are all seeds. Circles are means over the seeds that pass the gate (over all
seeds if none passes), bars their 95 % intervals from three seeds on. Lines are sorted by the sum
over these lengths; grey: most seeds are below the gate; a scheme whose table ends has no point past
its end.
"""

import numpy as np

from extrap.figures.drawing import (
    BELOW_GATE,
    DOTS,
    POINT,
    entitle,
    leftmost,
    note,
    panels,
    style_of,
    text_width,
)
from extrap.figures.kv_length import means
from extrap.results.cells import counted
from extrap.results.series import Series, select, whole
from extrap.results.stats.intervals import mean_over_seeds

NEEDS = {"task": "kv", "metric": "accuracy", "protocol": "records", "seen": "retrieval"}
OF = " of several schemes"
MULTIPLES = (1, 2, 4, 8)
LINE = 0.145
"""Inches of height of a scheme."""


def enough(rows) -> bool:
    return rows["scheme"].nunique() > 1


def draw(rows):
    shares = select(means(rows), protocol="records", extension="direct")
    shares = shares[shares["multiple"].isin(MULTIPLES)]
    measured = [n for n in MULTIPLES if (shares["multiple"] == n).any()]
    steps = select(rows, task="train", protocol="retrieval", metric="steps_to_90")
    found = sorted(whole(shares), key=_score, reverse=True)
    count = len(found)
    labels = [s.label for s in found]
    left = 0.2 + POINT * text_width(labels, 6.5)
    size = (1.1, LINE * count)
    margins = {"right": 0.15, "gap": 0.22, "top": 0.7}
    shape = (1, 1 + len(measured))
    figure, axes = panels(shape, size, left=left, least=0.45, **margins)
    first, *others = axes[0]
    for panel, multiple in zip(others, measured, strict=True):
        panel.set(title=f"accuracy at {multiple}L" if multiple > 1 else "accuracy at L")
        panel.set(xlim=(-0.04, 1.04), xticks=[0, 0.5, 1])
        panel.axvline(0.9, color="#222222", linewidth=0.6, linestyle=DOTS, label="gate")
    last = select(rows, task="train", axis="step")["at"].max()
    first.set(title="steps to 90 %", xticks=[])
    if np.isfinite(last):  # a run of few steps has no curve
        first.set(xlim=(0, last), xticks=[0, last / 2, last])
    first.xaxis.set_major_formatter("{x:g}")
    for panel in axes[0]:
        panel.set(ylim=(count - 0.5, -0.5), yticks=range(count), yticklabels=[])
        panel.tick_params(axis="y", length=0)
    beside = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    beside |= {"ha": "right", "va": "center", "fontsize": 6.5}
    for line, s in enumerate(found):
        colour = BELOW_GATE
        ink = "#777777"
        if learned(s):
            style = style_of(s)
            colour = style.colour
            ink = style.text
        for panel in filter(leftmost, axes[0]):
            panel.annotate(s.label, (0, line), (-4, 0), color=ink, **beside)
        runs = s.rows["run"]
        here = steps["run"].isin(runs) & steps["study"].isin(s.rows["study"])
        own = steps.loc[here, "value"]
        every = len(own) == runs.nunique()
        _marks(first, line, own, own if every else [], colour, s.label)
        scores = counted(s.rows)
        for panel, multiple in zip(others, measured, strict=True):
            here = s.rows.loc[s.rows["multiple"] == multiple, "value"]
            mean_of = scores.loc[scores["multiple"] == multiple, "value"]
            _marks(panel, line, here, mean_of, colour, s.label, within=(0, 1))
    words = f"{note(rows)} · kv, records, mean over depths; small dots: seeds; circles: means over "
    words += "the seeds that pass, all if none does; bars: 95 % interval, from three seeds on; "
    words += "dotted: the gate; grey: most seeds below it"
    entitle(figure, "Who learns, how fast, how far", words)
    return figure


def _score(found: Series) -> float:
    """Returns the sum of its mean accuracies over lengths."""
    means = counted(found.rows).groupby("multiple")["value"].mean()
    return means.sum()


def learned(found: Series) -> bool:
    """True if most of its runs pass the gate."""
    passed = found.rows.drop_duplicates("run")["mark"] == "ok"
    return bool(passed.mean() > 0.5)


def _marks(
    panel, line: int, values, mean_of, colour: str, label: str, within=(-np.inf, np.inf)
) -> None:
    """Draws a point for every seed, and the mean and the interval of those in mean_of, clipped to
    `within`.
    """
    if len(values):
        lines = [line] * len(values)
        panel.plot(values, lines, ".", color=colour, alpha=0.55, markersize=2.5)
    if not len(mean_of):
        return
    mean, *ends = mean_over_seeds(mean_of, within)
    if np.isfinite(ends).all():
        panel.plot(ends, [line, line], "-", color=colour, linewidth=1.0)
    panel.plot([mean], [line], "o", color=colour, markersize=3.4, label=label)
