"""How far back a passkey is found, against the steps of fine-tuning: how soon is a longer context
used?

k_max at the length that a run was tuned for, read with the method that it was tuned with; 0 steps
is the method untuned. Runs that were tuned for the greatest factor, of the scheme with most
methods. Conventions of arXiv 2306.15595 (table 4, drawn).
"""

import pandas as pd

from extrap.figures.drawing.axes import QUIET, note
from extrap.figures.drawing.ends import label_ends, label_room
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.lines import line
from extrap.figures.drawing.style import method_style
from extrap.figures.drawing.titles import entitle
from extrap.results.methods import TUNED, methods, of_main_parent, order, title
from extrap.results.series import select

NEEDS = {"task": "haystack", "protocol": "passkey", "metric": "k_max"}
OF = " of fine-tuned runs"
MAKE = " data=repeat extension=direct,pi finetune=full finetune.steps=25,50,100"
STEPS = r"^steps-\d+-"  # part of a name where the number is not that of the file


def enough(rows) -> bool:
    return rows["scheme"].str.fullmatch(TUNED).any()


def draw(rows):
    found = points(rows)
    L, factor = int(found["train_length"].iloc[0]), found["set_for"].max()
    names = [title(m) for m in order(found["tuned_with"])]
    figure, axes = panels((1, 1), (3.2, 2.4), right=label_room(names), gap=0, top=0.6)
    panel, ends = axes[0, 0], []
    panel.axhline(
        factor * L - 2, color=QUIET, linestyle=(0, (1, 1.6)), linewidth=0.9, label="furthest"
    )
    panel.axhline(L - 2, color=QUIET, linestyle=(0, (4, 2)), linewidth=0.7, label="training length")
    for method in order(found["tuned_with"]):
        ends.append(
            line(
                panel,
                found[found["tuned_with"] == method],
                "steps",
                method_style(method),
                title(method),
            )
        )
    panel.set(
        xlabel="steps of fine-tuning",
        ylabel="k_max (tokens)",
        ylim=(-0.03 * factor * L, 1.05 * factor * L),
    )
    label_ends(panel, ends)
    entitle(
        figure,
        f"Passkey after fine-tuning, in {factor * L:g} tokens",
        f"{note(found)} · dotted: furthest place; dashed: L",
    )
    return figure


def points(rows) -> pd.DataFrame:
    """k_max with the columns `steps` and `tuned_with`, a row for each method, number of steps and
    seed.
    """
    rows = of_main_parent(methods(rows))
    rows["tuned_with"] = rows["tuned_with"].str.replace(STEPS, "", regex=True)
    training = select(rows, task="train", axis="step")
    steps = training[training["tuned"].notna()].groupby("run")["at"].max()
    rows = select(rows, **NEEDS)
    after = rows[rows["tuned"].notna()].assign(steps=lambda r: r["run"].map(steps))
    after = after[after["tuned"] == after["tuned"].max()]
    factor = after["tuned"].max()
    after = after[after["method"] == after["tuned_with"]]
    before = rows[rows["tuned"].isna() & rows["method"].isin(after["tuned_with"])].assign(
        steps=0, tuned_with=lambda r: r["method"]
    )
    both = pd.concat([before, after], ignore_index=True)
    both = both[
        both["set_for"].isin((factor, 1.0)) & (both["length"] == factor * both["train_length"])
    ]
    # A series goes on in other runs: those of a seed are one line.
    return both.assign(
        run=both["parent"] + both["tuned_with"] + "-s" + both["seed"].astype(str), set_for=factor
    )
