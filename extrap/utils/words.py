"""Misspelt words."""


def one_edit_apart(a: str, b: str) -> bool:
    """True if one letter more, less, changed or moved makes b of a."""
    short = ({word, *(word[:n] + word[n + 1 :] for n in range(len(word)))} for word in (a, b))
    return a != b and not set.isdisjoint(*short)
