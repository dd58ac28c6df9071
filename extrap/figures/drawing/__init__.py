"""What a figure is drawn with: panels of a fixed size, axes, lines and their names, styles, titles.

Figures of one form share more: length_panels, depth_panels, heatmap, diagnostics.
"""

from extrap.figures.drawing.axes import (
    DOTS,
    QUIET,
    SHARE,
    bound,
    length_axis,
    level,
    log2_axis,
    mark_training,
    note,
    perplexity_axis,
    spread_note,
    ticks,
)
from extrap.figures.drawing.dimensions import POINT, WIDTH, text_width
from extrap.figures.drawing.ends import (
    End,
    label_ends,
    label_height,
    label_room,
    seed_paths,
    thin_lines,
)
from extrap.figures.drawing.layout import leftmost, lowest, panels, wrapped
from extrap.figures.drawing.lines import curve, line
from extrap.figures.drawing.palette import BELOW_GATE, COLOURS
from extrap.figures.drawing.style import (
    CONDITIONS,
    DASHED,
    INKS,
    SOLID,
    Style,
    method_style,
    scheme_style,
    style_of,
)
from extrap.figures.drawing.titles import entitle, legend_beside
