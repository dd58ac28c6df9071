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
    shape = (1, len(titles))
    figure, axes = panels(shape, size, right=right, gap=gap, left=left)
    row = list(axes[0])
    for panel, name in zip(row, titles, strict=True):
        panel.set_title(name)
    entitle(figure, title, note)
    return figure, row


def named(panel: Axes, **where) -> None:
    """Draws a legend without a frame."""
    panel.legend(frameon=False, fontsize=6.5, handlelength=1.8, labelspacing=0.25, **where)


def decades(axis) -> None:
    """Writes the ticks of a log axis as plain numbers: text of figures is never read as TeX."""

    def written(x: float, _) -> str:
        return f"{x:,.0f}" if x >= 1 else f"{x:g}"

    axis.set_major_formatter(written)
    axis.set_minor_formatter(NullFormatter())
