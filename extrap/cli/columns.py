"""Tables of text in the terminal: columns that are as wide as their widest cell."""

from collections.abc import Sequence


def aligned(
    lines: Sequence[Sequence[str]], left: Sequence[int] = (0,), gap: str = "  "
) -> list[str]:
    """Returns lines of cells as text.

    Args:
        lines: as many cells in each; a title is a cell like others.
        left: columns that begin at the left; the others end at the right.
        gap: text between two columns.
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    found = []
    for line in lines:
        cells = []
        for place, (cell, width) in enumerate(zip(line, widths, strict=True)):
            cells.append(cell.ljust(width) if place in left else cell.rjust(width))
        found.append(gap.join(cells).rstrip())
    return found
