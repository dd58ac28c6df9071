"""Fine-tuning at the target length: loss and accuracy on its batches against its steps, by method.

Conventions of arXiv 2306.15595. The first point is the method untuned. Runs that were tuned for the
greatest factor, of the scheme with most methods.
"""

from extrap.figures.drawing.axes import note
from extrap.figures.drawing.ends import label_ends, label_room
from extrap.figures.drawing.layout import wrapped
from extrap.figures.drawing.lines import line
from extrap.figures.drawing.style import method_style
from extrap.figures.drawing.titles import entitle
from extrap.figures.drawing.training_parts import TITLES, parts
from extrap.results.methods import TUNED, methods, of_main_parent, order, title
from extrap.results.series import select

NEEDS = {"task": "train", "axis": "step"}
OF = " of fine-tuned runs"
MAKE = " extension=pi,ntk,yarn finetune=full"


def enough(rows) -> bool:
    return rows["scheme"].str.fullmatch(TUNED).any()


def draw(rows):
    rows = select(methods(rows), **NEEDS)
    rows = rows[rows["tuned"].notna()]
    rows = of_main_parent(rows)
    rows = rows[rows["tuned"] == rows["tuned"].max()]
    names = [title(m) for m in order(rows["tuned_with"])]
    room = label_room(names)
    shown = parts(rows)
    margins = {"right": room, "gap": room + 0.4, "top": 0.5, "between": 0.6}
    figure, axes = wrapped(len(shown), 2, (2.5, 2.3), **margins)
    for panel, (protocol, metric) in zip(axes, shown, strict=True):
        part = rows[(rows["protocol"] == protocol) & (rows["metric"] == metric)]
        ends = []
        for method in order(part["tuned_with"]):
            ends.append(
                line(
                    panel,
                    part[part["tuned_with"] == method],
                    "at",
                    method_style(method),
                    title(method),
                    marker="",
                    linewidth=1.2,
                )
            )
        panel.set(xlabel="steps of fine-tuning", ylabel=f"{protocol}: {TITLES[metric]}")
        label_ends(panel, ends)
    lengths = " or ".join(
        f"{round(f * L)}" for f, L in rows[["tuned", "train_length"]].drop_duplicates().to_numpy()
    )
    words = (
        f"Fine-tuning of {rows['parent'].iloc[0]} at {rows['tuned'].max():g} times the training "
        "length"
    )
    entitle(figure, words, f"{note(rows)} · windows of {lengths} tokens")
    return figure
