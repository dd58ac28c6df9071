"""Text that demonstrations share."""


def aligned(rows: list[list[str]]) -> str:
    """Returns lines of right-aligned columns; the first row holds their heads."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
