"""Influence of each position on the last output, untrained with 1 to 8 layers, and trained: which
part of a U is inborn?

|d h_last / d x_j| as a share, times the number of positions: 1 is an equal share. A point is the
mean of a record, its key and its value; the first token and the query stand alone. Grey: models as
they were drawn, of 1 to 8 layers; dashed: what theory says of a model that looks at all
alike and weighs attention and residual as the last position tells (extrap/studies/reference/
position_theory.py), with the rank correlation of the two; dotted black: as drawn, without the
causal mask. arXiv 2603.10123.
"""

import numpy as np
from matplotlib.lines import Line2D

from extrap.figures.drawing import (
    CONDITIONS,
    entitle,
    leftmost,
    legend_beside,
    level,
    lowest,
    note,
    perplexity_axis,
    scheme_style,
    style_of,
    wrapped,
)
from extrap.figures.drawing.diagnostics import of_state
from extrap.results.series import CONTROLS, select, series, where_known
from extrap.studies.reference.position_theory import agreement, by_record, predicted, record

NEEDS = {"task": "diagnostics", "metric": "influence"}
OF = " of whole records"
LEAST = 0.2
"""Of an equal share. An untrained gate that forgets goes to 1e-20: it would flatten all else."""
ACROSS = 4
GREYS = ("#c8c8c8", "#a0a0a0", "#787878", "#505050")

THEORY = {"linestyle": (0, (3, 2)), "linewidth": 0.7}
UNMASKED = {"color": "black", "linestyle": (0, (1, 1.2)), "linewidth": 0.8}


def draw(rows):
    agreed = agreement(rows)
    rows = where_known(select(rows, **NEEDS))
    trained = of_state(rows, "trained")
    data = sorted(set(trained["data"]), key=lambda name: (name in CONTROLS, name))
    schemes = sorted(set(zip(trained["scheme"], trained["extension"], strict=True)))
    margins = {"right": 1.45, "gap": 0.25, "between": 0.45}
    figure, axes = wrapped(len(schemes), ACROSS, (1.5, 1.6), **margins)
    found = {p: int(p.split("_")[1]) for p in set(rows["protocol"]) if p.endswith("_layers")}
    depths = dict(sorted(found.items(), key=lambda one: one[1]))
    evenly = np.linspace(0, len(GREYS) - 1, len(depths))
    greys = [GREYS[i] for i in evenly.round().astype(int)]
    inks = dict(zip(depths, greys, strict=True))
    untrained = (*depths, "untrained_unmasked")
    for panel, (scheme, extension) in zip(axes, schemes, strict=True):
        here = rows[(rows["scheme"] == scheme) & (rows["extension"] == extension)]
        inborn = here[here["protocol"].isin(untrained)]
        inborn = inborn[inborn["run"] == inborn["run"].min()]
        for protocol, layers in depths.items():
            _line(panel, inborn, protocol, layers, color=inks[protocol], label=protocol)
        _line(panel, inborn, "untrained_unmasked", **UNMASKED | {"label": "unmasked"})
        if (scheme, extension) in agreed.index:
            correlations = agreed.loc[scheme, extension].dropna()
            numbers = ", ".join(f"{rho:.2f}" for rho in correlations)
            inside = {"transform": panel.transAxes, "ha": "center", "va": "top"}
            panel.text(0.5, 0.97, numbers, fontsize=6, color=GREYS[-1], **inside)
        for s in series(of_state(here, "trained")):
            protocol = s.rows["protocol"].iloc[0]
            style = {"color": style_of(s).colour, "linewidth": 1.3, "label": s.label}
            condition = CONDITIONS[data.index(s.data) % len(CONDITIONS)]
            _line(panel, s.rows, protocol, linestyle=condition, **style)
        perplexity_axis(panel)
        level(panel, 1, "equal share")
        name = scheme if extension == "direct" else f"{scheme} + {extension}"
        panel.set_title(name, color=scheme_style(scheme).text)
        panel.set_xlabel("position / length" if lowest(panel) else "")
        panel.set_ylabel("influence (equal share = 1)" if leftmost(panel) else "")
    high = max(panel.get_ylim()[1] for panel in axes)
    for panel in axes:
        panel.set(ylim=(LEAST, high), xticks=(0, 0.5, 1), xticklabels=("0", ".5", "1"))
        panel.tick_params(labelleft=leftmost(panel))
    last_in_row = min(ACROSS, len(axes)) - 1
    _key(axes[last_in_row], inks, data)
    n = int(rows["length"].iloc[0])
    within = "" if n in set(rows["train_length"]) else f", read at {n} tokens"
    words = f"{note(rows)}{within} · means over inputs; trained: over seeds, grey where "
    words += f"below the gate; untrained: one run · below {LEAST:g} is cut off · numbers: rank "
    words += f"correlation of greys and theory, by layers{_bump(trained)}"
    entitle(figure, "Influence of each position on the last output", words)
    return figure


def _bump(rows) -> str:
    """Says why trained models bend at .5, if inputs do it (extrap/tasks/diagnosis/inputs.py)."""
    first = rows.iloc[0]
    records = (int(first["length"]) - 2) // 2
    if first["protocol"] != "trained_records" or rows["n"].max() != records + 1:
        return ""
    return " · bump at .5: two inputs ask for the middle record, one for each of the others"


def _line(panel, rows, protocol: str, layers: int = 0, **stroke) -> None:
    """Draws what some rows have by record; for an untrained model of `layers` its theory, too."""
    rows = rows[rows["protocol"] == protocol]
    if rows.empty:
        return
    n = int(rows["length"].iloc[0])
    curve = rows.groupby("at")["value"].mean()
    last = n - 1
    measured = by_record(curve, n)
    panel.plot(measured.index / last, measured * n, **{"linewidth": 0.9} | stroke)
    if layers:
        theory = by_record(predicted(curve, n, layers), n)
        look = stroke | THEORY | {"label": "theory"}
        panel.plot(theory.index / last, theory * n, **look)


def enough(rows) -> bool:
    """True if both tokens of records are there; with one of them keys and values are mixed up."""
    some = where_known(rows).drop_duplicates(["length", "at"])
    for length, part in some.groupby("length"):
        at = part["at"]
        inside = at[(at > 0) & (at < length - 1)]
        records = record(inside, int(length))
        _, count = np.unique(records, return_counts=True)
        if (count == 1).sum() > 1:
            return False
    return len(some) > 0


def _key(panel, inks: dict[str, str], data) -> None:
    """Writes one legend right of the panels: greys are depths, line styles are training data."""
    entries = [
        *({"color": ink, "label": p.replace("_", " ")} for p, ink in inks.items()),
        {"color": GREYS[-1], "label": "theory"} | THEORY,
        UNMASKED | {"label": "untrained, no mask"},
        *(
            {"color": "#222222", "linestyle": line, "label": f"trained: {name}"}
            for name, line in zip(data, CONDITIONS, strict=False)
        ),
    ]
    handles = [Line2D([], [], **{"linewidth": 1.0} | entry) for entry in entries]
    legend_beside(panel, handles, 2.2)
