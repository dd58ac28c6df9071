"""Retrieval accuracy against the depth of the asked record, a panel per length: what is lost, and where.

Records: the number of key-value pairs grows with the length; padded: it is fixed and filler grows. Runs that miss the gate at the
training length are grey, dashed and named "not trained": a circuit that never formed is no sign of a lost middle. Dotted lines: the
accuracy of guessing among all values, and among those of the context. Conventions of Lost in the Middle (arXiv 2307.03172, figures 5
and 7).
"""

import math

import numpy as np

from extrap.figures.axis import QUIET, spread_note
from extrap.figures.layout import End, entitle, label_ends, label_height, label_room, panels, thin_lines
from extrap.figures.look import look
from extrap.series import seeds, select, series, spread

NEEDS = {"task": "kv", "metric": "accuracy", "seen": "retrieval"}
PROTOCOLS = {"records": "records: pairs\ngrow with length", "padded": "padded: fixed\npairs, more filler"}
MULTIPLES = (1, 2, 4, 8)
GUESSES = {"chance": (0, (1, 1.6)), "guess": (0, (1, 4))}
MARKS = "dotted: chance; wide dots: any value of the context"
QUARTERS = {0: "0", 0.25: ".25", 0.5: ".5", 0.75: ".75", 1: "1"}


def draw(rows):
    guesses = {metric: select(rows, **NEEDS | {"metric": metric}) for metric in GUESSES}
    rows = select(rows, **NEEDS).dropna(subset="depth")
    rows = rows.assign(multiple=(rows["length"] / rows["train_length"]).astype(float))
    shown = [p for p in PROTOCOLS if p in set(rows["protocol"])]
    multiples = [m for m in MULTIPLES if m in set(rows["multiple"])]
    labels = [f"{s.label} (to 64)" for s in series(rows)]
    room, height = label_room(labels), label_height(len(labels), 1.7)
    figure, axes = panels((len(shown), len(multiples)), (1.95, height), right=room, gap=0.18, between=0.32, left=0.95)
    for i, j in np.ndindex(axes.shape):
        panel, protocol, m = axes[i, j], shown[i], multiples[j]
        _guesses(panel, rows, guesses, protocol, m)
        here = rows[rows["protocol"] == protocol]
        ends = [_curve(panel, s, m) for s in series(here)]
        panel.set(xlim=(-0.04, 1.04), ylim=(-0.03, 1.05), xticks=list(QUARTERS), yticks=list(QUARTERS))
        panel.set_xticklabels(QUARTERS.values() if i == len(shown) - 1 else [])
        panel.set_yticklabels(QUARTERS.values() if j == 0 else [])
        panel.set_ylabel(f"{PROTOCOLS[protocol]}\n\naccuracy" if j == 0 else "")
        panel.set_xlabel("depth (0 = start, 1 = end)" if i == len(shown) - 1 else "")
        panel.set_title(_multiple(m, rows) if i == 0 else "")
        if j == len(multiples) - 1:
            label_ends(panel, ends)
    bars = f"bars: 95 % Wilson over {_trials(rows)} trials"
    entitle(figure, "Retrieval accuracy by depth", f"{spread_note(rows, bars)} · {MARKS}")
    return figure


def _curve(panel, s, multiple) -> End:
    style, rows = look(s), s.rows[s.rows["multiple"] == multiple]
    if rows.empty:
        return End(s.label, style, s.rows["length"].max(), math.nan)
    curve, order = spread(rows, "depth"), 3 if s.ok else 2
    thin_lines(panel, seeds(rows, "depth"), style)
    error = np.abs(curve[["low", "high"]].clip(0, 1).sub(curve["value"], axis=0)).T.to_numpy()
    panel.errorbar(curve.index, curve["value"], error, fmt="none", ecolor=style.colour, elinewidth=0.8, alpha=0.7, zorder=order)
    panel.plot(curve.index, curve["value"], label=s.label, zorder=order, **style.stroke)
    return End(s.label, style, curve.index[-1], curve["value"].iloc[-1])


def _multiple(m, rows) -> str:
    lengths = rows.loc[rows["multiple"] == m, "length"].unique()
    return ("training length" if m == 1 else f"{m}x") + (f" ({lengths[0]} tokens)" if len(lengths) == 1 else "")


def _guesses(panel, rows, guesses, protocol, multiple) -> None:
    """What can be had without finding the record: lines at accuracies that hold at every length and protocol or at this one."""
    lengths = rows.loc[rows["multiple"] == multiple, "length"]
    for metric, line in GUESSES.items():
        found = guesses[metric]
        found = found[found["protocol"].isin(("", protocol)) & (found["length"].isna() | found["length"].isin(lengths))]
        for value in sorted(found["value"].unique()):
            panel.axhline(value, color=QUIET, linestyle=line, linewidth=0.9, label=metric, zorder=1.5)


def _trials(rows) -> str:
    counts = sorted(rows["n"].dropna().unique())
    return " to ".join(str(n) for n in dict.fromkeys((counts[0], counts[-1]))) if counts else "all"
