"""The caption of a bare figure as LaTeX: what its title, its docstring and its note say."""

from collections.abc import Iterable

from matplotlib.figure import Figure

from extrap.figures.drawing.dimensions import SAID
from extrap.figures.drawing.formats import latex

TEXT_WIDTH = 4.0
"""Inches from which on a figure spans both columns of a page of two."""
READ = ("pdf", "pgf", "png")
"""Formats that LaTeX reads; of several the first counts."""
FORM = r"""\begin{figure%(star)s}
\centering
%(files)s
\caption{\textbf{%(title)s.} %(says)s %(note)s.}
\label{fig:%(name)s}
\end{figure%(star)s}
"""


def environment(figure: Figure, name: str, says: str, endings: Iterable[str], wide: float) -> str:
    """Returns a figure of LaTeX with the files of a bare figure and its caption.

    Args:
        figure: as drawn, bare.
        name: of its files; says: the sentence that its docstring begins with.
        endings: of its files; of several formats the first that LaTeX reads counts.
        wide: inches of its width.
    """
    title, note = SAID.get(figure, (name, ""))
    parts = note.split(" · ")
    kinds = [one.rpartition(".")[2] for one in endings]
    kind = next((one for one in READ if one in kinds), "pdf")
    read = r"\input{%s}" if kind == "pgf" else r"\includegraphics{%s}"
    names = [f"{name}{one}" if "." in one else f"{name}.{one}" for one in endings]
    files = [read % one for one in names if one.endswith(f".{kind}")]
    return FORM % {
        "star": "*" if wide > TEXT_WIDTH else "",
        "files": "\n".join(files),
        "title": latex(title),
        "says": latex(says),
        "note": latex("; ".join(parts)),
        "name": name,
    }
