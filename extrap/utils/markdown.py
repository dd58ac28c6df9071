"""Tables in Markdown, and generated parts of a page."""

from collections.abc import Iterable, Sequence


def table(lines: Iterable[Sequence[str]]) -> str:
    """Returns lines of cells, the header first, as a table."""
    head, *rows = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows))


def between(text: str, name: str, content: str) -> str:
    """Returns a text with the content between `<!-- name -->` and `<!-- /name -->`."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    return f"{text[: text.index(begin)]}{begin}\n{content}\n{text[text.index(end) :]}"
