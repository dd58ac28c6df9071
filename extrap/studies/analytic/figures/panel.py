"""What analytic figures share: panels with their own names, lines named beside their ends or in a
legend.
"""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from extrap.figures.drawing import entitle, panels


def framed(
    titles: Sequence[str], title: str, note: str, size=(3.0, 2.2), right=0.3, gap=0.62, left=0.62
) -> tuple[Figure, list[Axes]]:
    """Returns a row of panels with their titles, under the title of the figure, over a note."""
    figure, axes = panels((1, len(titles)), size, right=right, gap=gap, left=left)
    for panel, name in zip(axes[0], titles, strict=True):
        panel.set_title(name)
    entitle(figure, title, note)
    return figure, list(axes[0])


def named(panel: Axes, **where) -> None:
    """Draws a legend without a frame."""
    panel.legend(frameon=False, fontsize=6.5, handlelength=1.8, labelspacing=0.25, **where)


def decades(axis) -> None:
    """Writes the ticks of a log axis as plain numbers: text of figures is never read as TeX."""
    axis.set_major_formatter(lambda x, _: f"{x:,.0f}" if x >= 1 else f"{x:g}")
    axis.set_minor_formatter(NullFormatter())
