"""Tables of text in the terminal: columns that are as wide as their widest cell."""

from collections.abc import Sequence


def aligned(lines: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> list[str]:
    """Returns lines of cells as text, two spaces between columns.

    Args:
        lines: as many cells in each; a title is a cell like others.
        left: columns that begin at the left; the others end at the right.
    """
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def grouped(groups: Sequence[tuple[str, Sequence[Sequence[str]]]], left: Sequence[str] = ()):
    """`aligned` lines under titles of groups: each group is a block of columns, one space apart.

    Args:
        groups: (title, columns), a column its cells with the header first.
        left: headers of columns that begin at the left.
    """
    blocks = []
    begin = [0]
    for title, columns in groups:
        if all(column[0] in left for column in columns):
            begin.append(len(blocks))
        wide = [max(map(len, column)) for column in columns]
        lines = [" ".join(cell.ljust(width) if column[0] in left else cell.rjust(width)
                          for cell, width, column in zip(line, wide, columns, strict=True))
                 for line in zip(*columns, strict=True)]  # fmt: skip
        blocks.append([title, *lines])
    return aligned(list(zip(*blocks, strict=True)), left=begin)
