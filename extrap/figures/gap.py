"""Loss after a jump of the coordinates: to which distance can a model be trusted?

Two pieces of text, the second moved away from the first; nats per token of the second. Where a
curve crosses the dashed line, what the model reads across the gap costs more than no context. That
line is the plain reader's: a method may have spoilt its own without any gap.
"""

from typing import Any

from extrap.figures.drawing import Style, method_style, spread_note, style_of
from extrap.figures.drawing.length_panels import length_figure
from extrap.results.series import Series, select, series

NEEDS = {"task": "gap", "metric": "nll", "protocol": "jump", "seen": "text"}
MAKE = " task=gap"


def draw(rows):
    alone = select(rows, **NEEDS | {"protocol": "alone"}, extension="direct")
    rows = select(rows, **NEEDS)
    found = series(rows)
    methods = {s.extension for s in found}
    one_scheme = len({s.scheme for s in found}) == 1 and len(methods) == len(found) > 1

    def style(s: Series) -> Style:
        """Returns the style of the method where one scheme is read in several ways."""
        method = s.extension.partition(",")[0]
        return method_style(method, s.ok) if one_scheme else style_of(s)

    def no_context(panel, protocol: str) -> None:
        for s in found:
            here = alone["study"].isin(s.rows["study"])
            own = alone[here & alone["run"].isin(s.rows["run"])]
            if s.extension == "direct" and len(own):
                dashed = {"color": style(s).colour, "linestyle": (0, (4, 2)), "linewidth": 1.0}
                panel.axhline(own["value"].mean(), label="no context", **dashed)

    note = spread_note(rows, "bands: 95 % bootstrap over documents")
    note += " · dashed: plain, without the first half"
    form: dict[str, Any] = {
        "size": (3.6, 2.5),
        "gap": 0,
        "limits": None,
        "also": no_context,
        "style": style,
    }
    form |= {"across": "the second half begins at", "names": lambda found: [s.label for s in found]}
    title = "Loss after a jump of the coordinates"
    return length_figure(rows, {"jump": ""}, "nats per token", title, note, **form)
