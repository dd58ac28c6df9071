"""Tokens a second in training and reading, and memory of a training step, by length: what does a
scheme cost?

Bars are means over runs, lines the slowest and the fastest repeat of one run; times speak of one
machine. Conventions of ALiBi (arXiv 2108.12409, figure 2), with tokens for its words.
"""

import numpy as np

from extrap.figures.drawing import entitle, note, panels, style_of
from extrap.results.series import select, series

NEEDS = {"task": "speed", "metric": "tokens_per_second"}
ALSO = ({"task": "speed"},)
SHOWN = (
    ("train", "tokens_per_second", "training, thousand tokens a second"),
    ("read", "tokens_per_second", "reading, thousand tokens a second"),
    ("train", "bytes_per_token", "kept for the backward pass, kB a token"),
)


def draw(rows):
    rows = select(rows, task="speed").assign(status="ok")
    found = series(rows)[::-1]
    labels = [s.label for s in found]
    lengths = sorted(rows["length"].unique())
    figure, axes = _grid(len(lengths), labels)
    for (i, j), panel in np.ndenumerate(axes):
        length = lengths[i]
        protocol, metric, words = SHOWN[j]
        for place, s in enumerate(found):
            here = s.rows["length"] == length
            here &= s.rows["protocol"] == protocol
            here &= s.rows["metric"] == metric
            _bar(panel, place, s, s.rows[here])
        first = j == 0
        last = i == len(lengths) - 1
        panel.set(yticks=range(len(found)), ylim=(-0.6, len(found) - 0.4))
        panel.set_yticklabels(labels if first else [])
        panel.set_xlabel(words if last else "")
        panel.set_title(f"windows of {length:g} tokens" if first else "", loc="left")
        panel.grid(visible=False, axis="y")
    below = "lines: slowest and fastest repeat; without the step of the optimiser"
    entitle(figure, "Speed and memory", f"{note(rows)} · {below}")
    return figure


def _grid(lines: int, labels: list[str]):
    """Returns a figure and its axes: a line of panels per length, with room for the labels."""
    longest = max(map(len, labels))
    height = 0.2 * len(labels)
    return panels(
        (lines, len(SHOWN)),
        (2.1, height),
        left=0.35 + 0.065 * longest,
        right=0.5,
        gap=0.45,
        between=0.62,
        top=0.8,
    )


def _bar(panel, place: int, s, rows) -> None:
    """Draws the mean of some rows, in thousands; nothing for a length past a table."""
    if rows.empty:
        return
    value = end = rows["value"].mean() / 1000
    colour = style_of(s).colour
    panel.barh(place, value, height=0.7, color=colour, alpha=0.75, label=s.label)
    if len(rows) == 1 and rows["low"].notna().all():
        start = rows["low"].item() / 1000
        end = rows["high"].item() / 1000
        panel.plot([start, end], [place, place], color="black", linewidth=0.8, label="_repeats")
    panel.text(max(value, end), place, f" {value:.3g}", va="center", fontsize=6)
