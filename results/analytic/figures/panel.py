"""What analytic figures share: panels with their own names, lines named beside their ends or in a
legend.
"""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.style import INKS as INKS
from extrap.figures.drawing.titles import entitle


def framed(
    titles: Sequence[str], title: str, note: str, size=(3.0, 2.2), right=0.3, gap=0.62, left=0.62
) -> tuple[Figure, list[Axes]]:
    """A row of panels with their titles, the title of the figure over them and a note
    under them.
    """
    figure, axes = panels((1, len(titles)), size, right=right, gap=gap, left=left)
    for panel, name in zip(axes[0], titles, strict=True):
        panel.set_title(name)
    entitle(figure, title, note)
    return figure, list(axes[0])


def named(panel: Axes, **where) -> None:
    """A legend without a frame."""
    panel.legend(frameon=False, fontsize=6.5, handlelength=1.8, labelspacing=0.25, **where)
