"""Misspelt words."""


def one_edit_apart(a: str, b: str) -> bool:
    """True if one letter more, less or changed, or two neighbours swapped, makes b of a."""
    if a == b or abs(len(a) - len(b)) > 1:
        return False
    first = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
    if first is None:
        return True
    x, y = a[first:], b[first:]
    swapped = len(x) > 1 and x[1::-1] + x[2:] == y
    return x[1:] == y[1:] or x[1:] == y or x == y[1:] or swapped
