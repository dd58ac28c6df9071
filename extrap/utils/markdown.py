"""Tables in Markdown, and generated parts of a page."""

from collections.abc import Iterable, Sequence

ESCAPED = "\\|"


def table(lines: Iterable[Sequence[str]]) -> str:
    """Returns lines of cells, the header first, as a table."""

    def written(line: Sequence[str]) -> str:
        return f"| {' | '.join(cell.replace('|', ESCAPED) for cell in line)} |"

    head, *rows = lines
    return "\n".join(map(written, (head, ["---"] * len(head), *rows)))


def between(text: str, name: str, content: str) -> str:
    """Returns a text with the content between `<!-- name -->` and `<!-- /name -->`."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    return f"{text[: text.index(begin)]}{begin}\n{content}\n{text[text.index(end) :]}"
