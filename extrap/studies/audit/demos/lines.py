"""Text that demonstrations share."""


def aligned(rows: list[list[str]]) -> str:
    """Returns lines of right-aligned columns; the first row holds their heads."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.rjust, row, widths)) for row in rows)
