"""Paths and names of the command line as they are typed: `data.corpus.path=my texts (2)/a=b.txt`.

To Hydra a value is an expression, in which brackets, commas, equal signs and letters beyond ASCII
have a meaning or none. Values of options that name files become quoted texts before Hydra sees
them; names (study=1e5) do where Hydra would read something else.
"""

import re
import shlex

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep
from hydra.errors import HydraException

OPTION = re.compile(r"(\+{0,2}(?:[\w@/.-]*\.)?(?:path|tokenizer|checkpoint))=(.*)", re.DOTALL)
"""Options that name a file or a folder, by the last of their names."""

NAME = re.compile(r"(study|label)=([^\[\]{}()\x00-\x1f]*)")
"""Options that hold a name of one line. Hydra itself reads lists and choices of names."""

ASIS = re.compile(r"""['"].*|null|\?\?\?||.*\$\{.*""", re.DOTALL)
"""Values that are none: quoted by whoever typed them, absent, references."""

SWEPT = re.compile(r"(?:choice|glob|range|shuffle|sort|tag|\[).*", re.DOTALL)


def literal(words: list[str]) -> list[str]:
    """The words of a command line with paths quoted for Hydra. In a sweep (-m) commas stand between
    several.
    """
    sweep = any(word in ("-m", "--multirun") for word in words)
    return [_literal(word, sweep) for word in words]


def _literal(word: str, sweep: bool) -> str:
    found = NAME.fullmatch(word)
    if found and not ASIS.fullmatch(found[2]) and (sweep or "," not in found[2]):
        return f"{found[1]}={','.join(map(as_text, found[2].split(',')))}"
    found = OPTION.fullmatch(word)
    if found is None or ASIS.fullmatch(found[2]) or (sweep and SWEPT.fullmatch(found[2])):
        return word
    values = found[2].split(",") if sweep else [found[2]]
    return f"{found[1]}={','.join(map(quoted, values))}"


def quoted(text: str) -> str:
    """A text as Hydra's grammar quotes it."""
    escaped = re.sub(r"(\\*)'", r"\1\1\\'", text)
    return "'" + re.sub(r"(\\+)$", r"\1\1", escaped) + "'"


def as_text(text: str) -> str:
    """Returns a text so that Hydra reads this text, alone or before a comma: quoted where it would
    read something else.
    """
    try:
        read = OverridesParser.create().parse_override(f"x={text},end").value()
    except HydraException:
        return quoted(text)
    return text if isinstance(read, ChoiceSweep) and read.list == [text, "end"] else quoted(text)


def in_a_shell(word: str) -> str:
    """A word of a command line as it is typed in a shell."""
    if re.search(r"[$`\"\\!]", word) is None:
        return f'"{word}"' if re.search(r"[^\w@%+=:,./-]", word, re.ASCII) else word
    return shlex.quote(word)
