"""Scores of the needle tasks by length, as a table: how long a context does a scheme use, by one
number?

The score of multikey and single is the mean accuracy over depths, of multivalue and multiquery the
share of needles found. A length is effective where the mean over tasks reaches 85.6 %, and so at
every shorter one (RULER, arXiv 2404.06654). Means over seeds. Grey: below the gate; a task that no
series was trained for is left out of the mean.
"""

import numpy as np
from matplotlib import colormaps

from extrap.figures.drawing.axes import note
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.style import style_of
from extrap.figures.drawing.titles import entitle
from extrap.results.series import judged, select, series

NEEDS = {"task": "haystack", "protocol": "single", "metric": "accuracy", "seen": "retrieval"}
TASKS = {
    "single": "accuracy",
    "multikey": "accuracy",
    "multivalue": "recall",
    "multiquery": "recall",
}
THRESHOLD = 0.856
CELL, LINE = 0.36, 0.2


def draw(rows):
    rows = select(rows, task="haystack", seen="retrieval")
    found = series(rows.assign(mark=judged(rows), status="ok"))
    trained = {
        (s.label, task)
        for s in found
        for task in TASKS
        if (s.rows.loc[s.rows["protocol"] == task, "mark"] == "ok").any()
    }
    learned = {task for _, task in trained} or {*TASKS}
    tables = {s.label: scores(s.rows, learned) for s in found}
    lengths = sorted({n for table in tables.values() for n in table.columns})
    shown = [task for task in TASKS if any(task in table.index for table in tables.values())]
    counted = {"mean": learned} | {task: {task} for task in shown}
    figure, panel = _paper(len(counted) * (len(lengths) + 0.5), [*tables])
    for b, (block, tasks) in enumerate(counted.items()):
        passed = {label for label, task in trained if task in tasks}
        _block(panel, b * (len(lengths) + 0.5), block, tables, lengths, passed)
    _effective(panel, found, tables)
    left_out = ", ".join(task for task in TASKS if task not in learned)
    marks = (
        f"underlined: at least {100 * THRESHOLD:g} %; effective: longest length up to which the "
        "mean is; grey: below the gate"
    ) + (f", left out of the mean: {left_out}" if left_out else "")
    entitle(figure, "Needles by length (tokens)", f"{note(rows)} · means over seeds · {marks}")
    return figure


def _paper(columns: float, labels: list[str]):
    """A figure and its one panel, without axes: a unit is a cell, lines count from the top."""
    figure, axes = panels(
        (1, 1),
        (CELL * columns, LINE * len(labels)),
        right=0.95,
        gap=0,
        left=0.3 + 0.062 * max(map(len, labels)),
        top=0.8,
        least=0.27 * columns,
    )
    panel = axes[0, 0]
    panel.set(xlim=(0, columns), ylim=(len(labels), 0), xticks=[], yticks=[])
    panel.grid(visible=False)
    panel.spines[:].set_visible(False)
    return figure, panel


def _block(panel, x: float, name: str, tables, lengths, passed) -> None:
    """The scores of one task from x on, a column per length; passed: labels that learned it."""
    _text(panel, x + len(lengths) / 2, -1.5, name, fontweight="bold")
    for j, length in enumerate(lengths):
        _text(panel, x + j + 0.5, -0.5, f"{length:g}", fontsize=6.5)
        for i, (label, table) in enumerate(tables.items()):
            known = name in table.index and length in table.columns
            if known and not np.isnan(value := float(table.loc[name, length])):
                _cell(panel, x + j, i, value, label in passed)


def _effective(panel, found, tables) -> None:
    """Labels on the left, effective lengths on the right."""
    right = panel.get_xlim()[1] + 0.6
    _text(panel, right, -0.5, "effective", fontsize=6.5)
    for i, s in enumerate(found):
        panel.text(
            -0.3, i + 0.5, s.label, ha="right", va="center", fontsize=7.5, color=style_of(s).text
        )
        _text(panel, right, i + 0.5, effective(tables[s.label].loc["mean"]), fontweight="bold")


def scores(rows, counted=frozenset(TASKS)):
    """(task, length): mean over seeds; a first line holds the mean over the `counted` tasks where
    all are there.
    """
    parts = []
    for task, metric in TASKS.items():
        here = rows[(rows["protocol"] == task) & (rows["metric"] == metric)]
        parts.append(here[here["depth"].notna() == (metric == "accuracy")])
    every = {
        task: part.groupby(["run", "length"])["value"].mean().unstack().mean()
        for task, part in zip(TASKS, parts, strict=True)
        if len(part)
    }
    parts = [values for task, values in every.items() if task in counted]
    mean = sum(parts) / len(parts)
    return mean.to_frame("mean").assign(**every).T


def effective(mean) -> str:
    """The longest length such that the mean reaches the threshold at it and at every shorter one;
    ≥ where that is the longest that was measured.
    """
    reached = mean.dropna().sort_index().ge(THRESHOLD).cummin()
    if not reached.any():
        return f"<{mean.index.min():g}"
    return ("≥" if reached.all() else "") + f"{reached[reached].index.max():g}"


def _cell(panel, x, i, value: float, trained: bool) -> None:
    colour = colormaps["viridis"](value) if trained else colormaps["Greys"](value / 2)
    panel.fill_between([x + 0.04, x + 0.96], i + 0.06, i + 0.94, color=colour, linewidth=0)
    ink = "white" if trained and value < 0.6 else "black"
    _text(panel, x + 0.5, i + 0.5, f"{100 * value:.0f}", color=ink, fontsize=6.5)
    if trained and value >= THRESHOLD:
        panel.plot(
            [x + 0.22, x + 0.78], [i + 0.84, i + 0.84], color=ink, linewidth=0.8, label="_threshold"
        )


def _text(panel, x, y, words: str, **more) -> None:
    panel.text(x, y, words, **{"ha": "center", "va": "center", "fontsize": 7} | more)
