"""What tuning with the query behind the records, around them or in front of them changes, by
depth.

A line of panels per scheme, one per length: accuracy of the tuned model in the form that it was
tuned for, less that of its base with the query last, of the same seeds. Lost in the Middle (arXiv
2307.03172, section 4.3) leaves the question open.
"""

import numpy as np
import pandas as pd

from extrap.figures.drawing.axes import QUIET, note
from extrap.figures.drawing.depth_panels import MULTIPLES, QUARTERS
from extrap.figures.drawing.ends import End, label_ends, label_room, thin_lines
from extrap.figures.drawing.layout import leftmost, panels, titled
from extrap.figures.drawing.style import INKS, SOLID, Style
from extrap.figures.drawing.titles import entitle
from extrap.results.methods import TUNED
from extrap.results.rows import comparable
from extrap.results.series import select
from extrap.results.stats.intervals import t_interval

NEEDS = {"task": "kv-query", "metric": "accuracy"}
OF = " of runs tuned on data@finetune.data=query-last, query-both or query-first"
MAKE = (
    " finetune=full finetune.factor=1 finetune.steps=1000 "
    "data@finetune.data=query-last,query-both,query-first"
)
FORM = r"query-(last|both|first)"
LINES = {
    "last": ("tuned: query last", Style(INKS[0], SOLID, "s")),
    "both": ("tuned: first and last", Style(INKS[2], SOLID, "^")),
    "first": ("tuned: query first", Style(INKS[1], SOLID, "D")),
}


def enough(rows) -> bool:
    return rows["scheme"].str.extract(f"^{TUNED}$")["rest"].str.extract(FORM)[0].notna().any()


def with_changes(rows) -> pd.DataFrame:
    """Rows of accuracy with the columns parent and tuned (a form, or nothing); every model in its
    own form.
    """
    rows = comparable(select(rows, **NEEDS)).dropna(subset="depth")
    label = rows["scheme"].str.extract(f"^{TUNED}$")
    form = label["rest"].str.extract(FORM)[0].fillna("")
    rows = rows.assign(
        parent=label["parent"].fillna(rows["scheme"]),
        tuned=form,
        multiple=rows["length"] / rows["train_length"],
    )
    rows = rows[rows["protocol"] == rows["tuned"].replace("", "last")]
    return rows[rows["parent"].isin(rows.loc[rows["tuned"] != "", "parent"])]


def draw(rows):
    rows = with_changes(rows)
    parents, multiples = (
        sorted(rows["parent"].unique()),
        [m for m in MULTIPLES if m in set(rows["multiple"])],
    )
    found = {
        (parent, multiple, form): difference(rows, parent, multiple, form)
        for parent in parents
        for multiple in multiples
        for form in LINES
    }
    room = label_room([name for name, _ in LINES.values()])
    figure, axes = panels(
        (len(parents), len(multiples)), (1.95, 1.2), right=room, gap=0.18, between=0.3, left=0.95
    )
    least, most = _limits(found.values())
    for (i, j), panel in np.ndenumerate(axes):
        ends = [
            _line(panel, table, name, style)
            for form, (name, style) in LINES.items()
            if len(table := found[parents[i], multiples[j], form])
        ]
        panel.axhline(0, color=QUIET, linewidth=0.8, label="base", zorder=1.5)
        panel.set(xlim=(-0.04, 1.04), ylim=(least, most), xticks=list(QUARTERS))
        panel.set_xticklabels(QUARTERS.values() if i == len(parents) - 1 else [])
        panel.tick_params(labelleft=leftmost(panel))
        panel.set_xlabel("depth (0 = start, 1 = end)" if i == len(parents) - 1 else "")
        panel.set_ylabel(f"{parents[i]}\n\nless base" if leftmost(panel) else "")
        here = rows[rows["multiple"] == multiples[j]]
        where = "training length" if multiples[j] == 1 else f"{multiples[j]:g}x"
        panel.set_title(f"{where} ({here['length'].iloc[0]:g} tokens)" if titled(panel) else "")
        if j == len(multiples) - 1:
            label_ends(panel, ends)
    entitle(figure, "What tuning on a form of the question changes", _note(rows))
    return figure


def difference(rows, parent: str, multiple: float, form: str) -> pd.DataFrame:
    """(depths, seeds): accuracy of the tuned model in its form less that of its base with the query
    last, of the seeds that both have.
    """
    here = rows[(rows["parent"] == parent) & (rows["multiple"] == multiple)]
    tuned, base = (
        here[here["tuned"] == name].pivot(index="depth", columns="seed", values="value")
        for name in (form, "")
    )
    return (tuned - base).dropna(axis=1, how="all").dropna()


def _limits(tables) -> tuple[float, float]:
    values = np.concatenate([table.mean(axis=1) for table in tables if len(table)] or [np.zeros(1)])
    return min(-0.2, values.min() - 0.15), max(0.2, values.max() + 0.15)


def _note(rows) -> str:
    lost = rows[rows["status"] != "ok"].groupby(["parent", "tuned"])["seed"].nunique()
    words = [
        f"{parent} {LINES[form][0] if form else 'base'} {count}"
        for (parent, form), count in lost.items()
    ]
    shown = (
        "accuracy, asked as tuned, less that of the base with the query last, paired by seed; "
        "thin: seeds, bars: 95 % t-interval over seeds from 3 on"
    )
    below = f" · seeds below the gate, in all means: {', '.join(words)}" if words else ""
    return f"{note(rows)} · {shown}{below}"


def _line(panel, table: pd.DataFrame, name: str, style: Style) -> End:
    middle = table.mean(axis=1)
    thin_lines(panel, table, style)
    if table.shape[1] >= 3:
        low, high = t_interval(table.to_numpy(float).T)
        bars = np.abs([middle - low, high - middle])
        panel.errorbar(
            middle.index, middle, bars, fmt="none", ecolor=style.colour, elinewidth=0.8, alpha=0.7
        )
    panel.plot(middle.index, middle, label=name, zorder=3, **style.stroke)
    return End(name, style, float(middle.index[-1]), float(middle.iloc[-1]))
