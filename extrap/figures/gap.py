"""Loss after a jump of the coordinates: to which distance can a model be trusted?

Two pieces of text, the second moved away from the first; nats per token of the second. Where a
curve crosses the dashed line, what the model reads across the gap costs more than no context. That
line is the plain reader's: a method may have spoilt its own without any gap.
"""

from extrap.figures.drawing.axes import length_axis, mark_training, spread_note
from extrap.figures.drawing.ends import label_ends, label_height, label_room
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.lines import curve
from extrap.figures.drawing.style import Style, method_style, style_of
from extrap.figures.drawing.titles import entitle
from extrap.results.series import Series, select, series

NEEDS = {"task": "gap", "metric": "nll", "protocol": "jump", "seen": "text"}
MAKE = " task=gap"


def draw(rows):
    alone = select(rows, **NEEDS | {"protocol": "alone"})
    rows = select(rows, **NEEDS)
    found, lengths = series(rows), sorted(rows["train_length"].unique())
    height = label_height(len(found), 2.5)
    figure, ((panel,),) = panels(
        (1, 1), (3.6, height), right=label_room([s.label for s in found]), gap=0, top=0.86
    )
    ends = [curve(panel, s, s.rows, "length", style=_style(s, found)) for s in found]
    for s in (s for s in found if s.extension == "direct"):
        own = alone[alone["run"].isin(s.rows["run"]) & (alone["extension"] == "direct")]
        if len(own):
            dashed = {"color": _style(s, found).colour, "linestyle": (0, (4, 2)), "linewidth": 1.0}
            panel.axhline(own["value"].mean(), label="no context", **dashed)
    length_axis(panel, rows["length"], lengths)
    mark_training(panel, lengths)
    panel.set(xlabel="the second half begins at", ylabel="nats per token")
    label_ends(panel, ends)
    words = "dashed: plain, without the first half"
    interval = spread_note(rows, "bands: 95 % bootstrap over documents")
    entitle(figure, "Loss after a jump of the coordinates", f"{interval} · {words}")
    return figure


def _style(s: Series, found: list[Series]) -> Style:
    """That of the method where one scheme is read in several ways, else that of the scheme."""
    one = len({other.scheme for other in found}) == 1 < len(found)
    return method_style(s.extension.partition(",")[0], s.ok) if one else style_of(s)
