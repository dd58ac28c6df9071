"""Text that demonstrations share."""


def aligned(rows: list[list[str]]) -> str:
    """Returns lines of right-aligned columns; the first row holds their heads."""
    columns = zip(*rows, strict=True)
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for row in rows:
        cells = map(str.rjust, row, widths)
        lines.append("  ".join(cells))
    return "\n".join(lines)
