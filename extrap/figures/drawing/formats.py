"""Figures as bytes: SVG, PNG, PDF and PGF, the same for the same figure, enlarged as one.

Text in PGF is set by the LaTeX of the paper, in its font. Matplotlib would pass text on as LaTeX
and start LaTeX to measure it; here every character is text, and no program is started.
"""

import io
import re
from typing import Any

from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_mixed import MixedModeRenderer
from matplotlib.backends.backend_pdf import Op, PdfFile, RendererPdf
from matplotlib.backends.backend_pgf import RendererPgf
from matplotlib.figure import Figure

from extrap.figures.drawing.svg import slim

EMPTY = {"CreationDate": None, "Creator": None, "Producer": None}
LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "_": r"\_", "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\ensuremath{<}", ">": r"\ensuremath{>}", "≥": r"\ensuremath{\geq}",
    "·": r"\textperiodcentered{}", "–": "--", "×": r"\ensuremath{\times}",
    "−": r"\ensuremath{-}", "±": r"\ensuremath{\pm}", "θ": r"\ensuremath{\theta}",
    "\n": " ", "π": r"\ensuremath{\pi}", "Σ": r"\ensuremath{\Sigma}",
    "ρ": r"\ensuremath{\rho}", "●": r"\ensuremath{\bullet}", "○": r"\ensuremath{\circ}",
    "◇": r"\ensuremath{\diamond}", "◆": r"\rotatebox{45}{\rule{.8ex}{.8ex}}",
    "△": r"\ensuremath{\triangle}", "■": r"\rule{1ex}{1ex}",
    "□": r"\fbox{\rule{0pt}{.6ex}\rule{.6ex}{0pt}}",
}  # fmt: skip
HEAD = re.compile(rb' (width|height)="([\d.]+)pt"')


def latex(text: str) -> str:
    """Returns text as LaTeX that prints it: no character is a command. A character that pdfLaTeX
    lacks becomes a question mark.
    """
    known = (LATEX.get(one, one if one.isascii() and one.isprintable() else "?") for one in text)
    return "".join(known)


def svg(figure: Figure, scale: float = 1.0) -> bytes:
    """Returns SVG with text as text."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    written = slim(buffer.getvalue())
    if scale == 1:
        return written

    def larger(size: re.Match[bytes]) -> bytes:
        return b' %s="%gpt"' % (size[1], round(float(size[2]) * scale, 3))

    return HEAD.sub(larger, written, count=2)  # the box of its coordinates stays


def png(figure: Figure, scale: float = 1.0) -> bytes:
    """Returns PNG."""
    buffer = io.BytesIO()
    dots: dict[str, Any] = {} if scale == 1 else {"dpi": 160 * scale}
    figure.savefig(buffer, format="png", metadata={"Software": None}, **dots)
    return buffer.getvalue()


def pdf(figure: Figure, scale: float = 1.0) -> bytes:
    """Returns PDF with its fonts."""
    buffer = io.BytesIO()
    width, height = figure.get_size_inches()
    dots = figure.dpi
    figure.dpi = 72
    file = PdfFile(buffer, metadata=EMPTY)
    file.newPage(width * scale, height * scale)
    file.output(scale, 0, 0, scale, 0, 0, Op.concat_matrix)
    drawn = RendererPdf(file, dots, height, width)
    renderer: Any = MixedModeRenderer(figure, width, height, dots, drawn)
    figure.draw(renderer)
    renderer.finalize()
    file.finalize()
    file.close()
    figure.dpi = dots
    return buffer.getvalue()


class Picture(RendererPgf):
    """Matplotlib's PGF with text as text, measured by the fonts of Matplotlib."""

    get_text_width_height_descent = RendererBase.get_text_width_height_descent

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
        """Writes a line of text where Matplotlib has its anchor: LaTeX's font is another one."""
        anchor = "left,base"
        if mtext is not None and angle == 0:
            x, y = mtext.get_transform().transform(mtext.get_unitless_position())
            sides = (mtext.get_horizontalalignment(), mtext.get_verticalalignment())
            anchor = ",".join(ANCHORS[side] for side in sides)
        place = f"x={x / self.dpi:f}in,y={y / self.dpi:f}in,{anchor},rotate={angle:f}"
        size = prop.get_size_in_points()
        shape = "\\bfseries" if prop.get_weight() == "bold" else ""
        ink = ",".join(f"{channel:f}" for channel in gc.get_rgb()[:3])
        words = f"\\fontsize{{{size:g}}}{{{1.2 * size:g}}}{shape}\\selectfont {latex(s)}"
        self.fh.write("\\begin{pgfscope}\\definecolor{textcolor}{rgb}")
        self.fh.write(f"{{{ink}}}\\color{{textcolor}}%\n")
        self.fh.write(f"\\pgftext[{place}]{{{words}}}%\n\\end{{pgfscope}}%\n")


ANCHORS = {"left": "left", "right": "right", "center": "", "top": "top", "bottom": "bottom"}
ANCHORS |= {"baseline": "base", "center_baseline": ""}


def pgf(figure: Figure, scale: float = 1.0) -> bytes:
    """Returns PGF for \\input; it needs the packages pgf and graphicx."""
    width, height = figure.get_size_inches()
    for artist in figure.findobj(_drawn_as_dots):
        artist.set_rasterized(False)
    text = io.StringIO()
    text.write(f"\\begingroup\\makeatletter\\scalebox{{{scale:g}}}{{\\begin{{pgfpicture}}%\n")
    corner = f"\\pgfqpoint{{{width:f}in}}{{{height:f}in}}"
    text.write(f"\\pgfpathrectangle{{\\pgfpointorigin}}{{{corner}}}%\n")
    text.write("\\pgfusepath{use as bounding box, clip}%\n")
    picture = Picture(figure, text)
    renderer: Any = MixedModeRenderer(figure, width, height, figure.dpi, picture)
    figure.draw(renderer)
    text.write("\\end{pgfpicture}}\\makeatother\\endgroup%\n")
    return text.getvalue().encode()


def _drawn_as_dots(artist) -> bool:
    return bool(artist.get_rasterized())


WRITERS = {"svg": svg, "png": png, "pdf": pdf, "pgf": pgf}
