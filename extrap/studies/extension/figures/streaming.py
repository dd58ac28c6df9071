"""Streaming: loss as the text grows, for dense attention, a window, sinks with a window, and
windows read anew.

Crop reads the last L tokens anew for every few predictions, the costly upper baseline; a window
drops the first tokens, which collect idle attention; sinks keep them. Conventions of StreamingLLM
(arXiv 2309.17453, figure 3).
"""

from extrap.figures.drawing import (
    entitle,
    label_ends,
    length_axis,
    line,
    mark_training,
    method_style,
    note,
    panels,
)
from extrap.results.methods import compared, methods
from extrap.results.series import behind, called, select

NEEDS = {"task": "nll", "metric": "nll", "protocol": "last_segment", "seen": "text"}
OF = " of extension=streaming-llm or window beside direct"
MAKE = " extension=direct,window,streaming-llm,lm-infinite,crop"
SHOWN = {
    "direct": "dense",
    "window": "window",
    "streaming-llm": "sinks + window",
    "lm-infinite": "LM-Infinite",
    "crop": "read anew",
}


def enough(rows) -> bool:
    return {"direct", "streaming-llm"} <= {*behind(rows["extension"]).unique()}


def draw(rows):
    rows = compared(select(methods(rows), **NEEDS))
    rows = rows[rows["method"].isin(SHOWN) & ~rows["log_n"]]
    parent = min(rows["parent"])
    rows = rows[rows["parent"] == parent]
    labels = {method: _label(method) for method in SHOWN}
    figure, ((panel,),) = panels((1, 1), (3.2, 2.5), labels=[*labels.values()], top=0.86)
    ends = []
    for method, label in labels.items():
        part = rows[rows["method"] == method]
        if len(part):
            ends.append(line(panel, part, "length", method_style(method), label))
    trained = rows["train_length"].unique()
    length_axis(panel, rows["length"], trained)
    mark_training(panel, trained)
    panel.set_ylabel("nats per token, same last segment")
    label_ends(panel, ends)
    entitle(figure, f"Reading on with sinks and windows, {parent}", note(rows))
    return figure


def _label(method: str) -> str:
    """Returns the label of one's own of a method, else its words in this figure."""
    own = called(method)
    return SHOWN[method] if own == method else own
