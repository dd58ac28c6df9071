"""U-curves of a model as it is, and tuned on with the query behind the records, around them, or in
front of them.

A line of panels per scheme, one per length; every model is asked in the form that it was tuned for,
the base with the query last. Conventions of Lost in the Middle (arXiv 2307.03172, figures 9 and
10), whose section 4.3 leaves the question open.
"""

import numpy as np
import pandas as pd

from extrap.figures.drawing.axes import spread_note
from extrap.figures.drawing.depth_panels import MULTIPLES, QUARTERS
from extrap.figures.drawing.layout import (
    End,
    entitle,
    label_ends,
    label_room,
    leftmost,
    panels,
    titled,
)
from extrap.figures.drawing.methods import line
from extrap.figures.drawing.palette import BELOW_GATE
from extrap.figures.drawing.style import DASHED, INKS, SOLID, Style
from extrap.results.extension_study.methods import TUNED
from extrap.results.rows import one_corpus
from extrap.results.series import select, spread

NEEDS = {"task": "kv-query", "metric": "accuracy"}
OF = " of runs tuned on data@finetune.data=query-last, query-both or query-first"
MAKE = (
    " finetune=full finetune.factor=1 finetune.steps=1000 "
    "data@finetune.data=query-last,query-both,query-first"
)
FORM = r"query-(last|both|first)"
LINES = {
    "": ("base, query last", Style("#222222", SOLID, "o")),
    "last": ("tuned: query last", Style(INKS[0], DASHED, "s")),
    "both": ("tuned: first and last", Style(INKS[2], DASHED, "^")),
    "first": ("tuned: query first", Style(INKS[1], DASHED, "D")),
}


def enough(rows) -> bool:
    return rows["scheme"].str.extract(f"^{TUNED}$")["rest"].str.extract(FORM)[0].notna().any()


def told(rows) -> pd.DataFrame:
    """Rows of accuracy with the columns parent and tuned (a form, or nothing); every model in its
    own form.
    """
    rows = one_corpus(select(rows, **NEEDS)).dropna(subset="depth")
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
    rows = told(rows)
    parents, multiples = (
        sorted(rows["parent"].unique()),
        [m for m in MULTIPLES if m in set(rows["multiple"])],
    )
    room = label_room([f"{name} (2 of 3 seeds)" for name, _ in LINES.values()])
    figure, axes = panels(
        (len(parents), len(multiples)), (1.95, 1.5), right=room, gap=0.18, between=0.32, left=0.95
    )
    for (i, j), panel in np.ndenumerate(axes):
        here = rows[(rows["parent"] == parents[i]) & (rows["multiple"] == multiples[j])]
        ends = [
            _curve(panel, here[here["tuned"] == form], *LINES[form])
            for form in LINES
            if form in set(here["tuned"])
        ]
        panel.set(
            xlim=(-0.04, 1.04), ylim=(-0.03, 1.05), xticks=list(QUARTERS), yticks=list(QUARTERS)
        )
        panel.set_xticklabels(QUARTERS.values() if i == len(parents) - 1 else [])
        panel.set_yticklabels(QUARTERS.values() if leftmost(panel) else [])
        panel.set_xlabel("depth (0 = start, 1 = end)" if i == len(parents) - 1 else "")
        panel.set_ylabel(f"{parents[i]}\n\naccuracy" if leftmost(panel) else "")
        tokens = "" if here.empty else f" ({here['length'].iloc[0]:g} tokens)"
        panel.set_title(
            (("training length" if multiples[j] == 1 else f"{multiples[j]:g}x") + tokens)
            if titled(panel)
            else ""
        )
        if j == len(multiples) - 1:
            label_ends(panel, ends)
    entitle(
        figure,
        "Where the query stands, before and after tuning",
        f"{spread_note(rows, 'bars: 95 % Wilson')} · asked as tuned",
    )
    return figure


def _curve(panel, rows, name: str, style: Style) -> End:
    """The seeds that pass their gate within the training length, said where they are not all; grey
    where none does.
    """
    if (rows["status"] != "ok").all():
        style, name = Style(BELOW_GATE, style.line, style.marker), f"{name} – below the gate"
    elif (passed := rows[rows["status"] == "ok"])["run"].nunique() < (
        every := rows["run"].nunique()
    ):
        rows, name = passed, f"{name} ({passed['run'].nunique()} of {every} seeds)"
    middle = spread(rows, "depth")
    bars = np.abs([middle["value"] - middle["low"], middle["high"] - middle["value"]])
    panel.errorbar(
        middle.index,
        middle["value"],
        bars,
        fmt="none",
        ecolor=style.colour,
        elinewidth=0.8,
        alpha=0.7,
    )
    return line(panel, rows, "depth", style, name, band=False)
