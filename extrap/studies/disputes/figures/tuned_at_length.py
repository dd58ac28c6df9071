"""Tuning at the training length: records found at L, 2 L and 4 L before and after it, by scheme.

Tuned for some steps at exactly L, all weights or LoRA; a panel per scheme. Accuracy is the mean
over depths, thin lines are seeds, bars 95 % t-intervals over seeds from three on. A run below the
gate counts like the others.
"""

import math
from dataclasses import replace

from extrap.figures.drawing import (
    CONDITIONS,
    SHARE,
    End,
    entitle,
    label_ends,
    leftmost,
    line,
    log2_axis,
    note,
    scheme_style,
    wrapped,
)
from extrap.figures.kv_length import means
from extrap.results.methods import methods
from extrap.results.series import select

NEEDS = {
    "task": "kv",
    "metric": "accuracy",
    "protocol": "records",
    "extension": "direct",
    "seen": "retrieval",
}
OF = " of runs that were tuned at the training length"
MAKE = " finetune=full,lora finetune.factor=1"
HOW = {"": "before", "full": "all weights", "lora": "LoRA"}


def enough(rows) -> bool:
    return bool((methods(rows)["tuned"] == 1).any())


def draw(rows):
    plain = select(means(rows), protocol="records", extension="direct")
    found = methods(plain)
    at_length = found["tuned"] == 1
    before = found["tuned"].isna()
    tuned = found["parent"].isin(found.loc[at_length, "parent"])
    found = found[tuned & (before | at_length)]
    parents = sorted(found["parent"].unique())
    margins = {"labels": [*HOW.values()], "gap": 0.2, "between": 0.62, "top": 0.6}
    figure, axes = wrapped(len(parents), 4, (1.2, 1.9), **margins)
    for panel, parent in zip(axes, parents, strict=True):
        own = found[found["parent"] == parent]
        ends = []
        for how, look in zip(HOW, CONDITIONS, strict=False):
            part = own[own["how"] == how]
            ends.append(_line(panel, part, how, look))
        log2_axis(panel, sorted(found["multiple"].unique()))
        panel.set(ylim=SHARE, xlabel="length / L")
        panel.set_title(parent, color=scheme_style(parent).text)
        panel.set_ylabel("accuracy, mean over depths" if leftmost(panel) else "")
        panel.tick_params(labelleft=leftmost(panel))
        if panel is axes[-1]:
            label_ends(panel, ends)
    words = f"{note(found)} · thin: seeds; bars: 95 % t-interval over seeds from 3 on"
    entitle(figure, "Before and after tuning at L", words)
    return figure


def _line(panel, rows, how: str, look) -> End:
    """Draws one line in the colour of its scheme; returns its end in grey, for all panels."""
    parent = rows["parent"].iloc[0] if len(rows) else ""
    style = replace(scheme_style(parent), line=look)
    end = line(panel, rows, "multiple", style, HOW[how], bars=True)
    grey = replace(style, colour="#444444")
    return replace(end, style=grey, elsewhere=math.isnan(end.y))
