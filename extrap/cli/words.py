"""Words of the command line as Hydra gets them.

Hydra reads a value as an expression, in which `~`, brackets and letters beyond ASCII have a meaning
or none. A value that Hydra cannot read is quoted here and becomes a text:
`data.corpus.path=~/my texts (2)`.

Hydra also reads `2024_11_25` and `1e3` as numbers and writes them as 20241125 and 1000.0. Such a
value is quoted, too: extrap/cli/values.py reads it by the type of its option.

In a sweep Hydra first composes all options with one value, before any choice of the sweep, and
would look for `factor` of `-m extension=pi,ntk extension.factor=8` inside the default extension.
An option of a group that is swept, by words or by the grid of an experiment, is therefore handed
on as a sweep of one value.
"""

import re
from collections.abc import Sequence

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException

SWEEPING = ("-m", "--multirun")
"""Flags that argparse takes in front of all options or behind them, and people between them."""

NAME = re.compile(r"(?!(?:null|true|false|inf|nan)$)[a-z_*][\w./*-]*", re.ASCII | re.IGNORECASE)
"""Texts that Hydra reads as they are."""


def readable(words: list[str]) -> list[str]:
    """Returns the words of a command line in the form that Hydra reads, the flags of a sweep first.
    Hydra rejects a word that stays unreadable, with the reason.
    """
    words = sorted(words, key=lambda word: word not in SWEEPING)
    if not {*SWEEPING} & {*words}:
        return [_kept(_quoted(word, [word.partition("=")[2]])) for word in words]
    words = [_kept(_quoted(word, word.partition("=")[2].split(","))) for word in words]
    read = {word: one for word in words if (one := _read(word)) is not None}
    swept = [one for one in read.values() if one.is_sweep_override()]
    groups = [options_of(one) for one in swept if "." not in one.key_or_group]
    return within(words, tuple(groups))


def options_of(choice: Override) -> str:
    """Returns how the options begin that the choice of a group brings, `scheme.`"""
    return f"{choice.package or choice.key_or_group.replace('/', '.')}."


def within(words: Sequence[str], groups: tuple[str, ...]) -> list[str]:
    """Returns words with each option of these groups as a sweep of one value. groups: the beginning
    of their options, as in `scheme.`
    """
    read = {word: one for word in words if (one := _read(word)) is not None}
    inside = {word for word, one in read.items() if one.key_or_group.startswith(groups)}
    return [_swept(word, read[word]) if word in inside else word for word in words]


def quoted(text: str) -> str:
    """Returns a text as Hydra's grammar quotes it."""
    escaped = re.sub(r"(\\*)'", r"\1\1\\'", text)
    return "'" + re.sub(r"(\\+)$", r"\1\1", escaped) + "'"


def as_text(text: str) -> str:
    """Returns a text so that Hydra reads it as this text: quoted if it is no plain name."""
    return text if NAME.fullmatch(text) else quoted(text)


def _quoted(word: str, values: list[str]) -> str:
    """Returns a word that Hydra cannot read with its values quoted."""
    option = word.partition("=")[0]
    if word.startswith("-") or "=" not in word or "\n" in word or _read(word) is not None:
        return word
    return f"{option}={','.join(map(quoted, values))}"


def _kept(word: str) -> str:
    """Returns a word with the numbers quoted that Hydra would write in another way: alone, among
    values of a sweep, or in a list of plain values.
    """
    option, _, text = word.partition("=")
    one = _read(word)
    if one is None or one.is_delete() or one.is_hydra_override() or one.package is not None:
        return word
    listed = text.startswith("[") and text.endswith("]")
    inner = text[1:-1] if listed else text
    if not text or set(inner) & set("[]{}()'\"$\\"):
        return word
    kept = ",".join(quoted(piece) if _rewritten(piece) else piece for piece in inner.split(","))
    return f"{option}=[{kept}]" if listed else f"{option}={kept}"


def _rewritten(text: str) -> bool:
    """True for a number that Hydra writes in another way."""
    value = number(text)
    return value is not None and written(value) != text


def number(text: str) -> int | float | bool | None:
    """Returns the number, or true or false, as which Hydra reads a text; else None."""
    one = _read(f"x={text}")
    value = None if one is None or one.is_sweep_override() else one.value()
    return value if isinstance(value, int | float) else None


def written(value: object) -> str:
    """Returns a number, true or false as Hydra writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read(word: str) -> Override | None:
    try:
        return None if word.startswith("-") else OverridesParser.create().parse_override(word)
    except (HydraException, ValueError):  # ValueError: a number of too many digits
        return None


def _swept(word: str, one: Override) -> str:
    """Returns a sweep of one value. `choice` takes no null: two equal
    values stand in its place, and extrap runs one of two equal jobs.
    """
    if one.is_sweep_override() or one.is_delete():
        return word
    option, _, value = word.partition("=")
    return f"{option}=null,null" if one.value() is None else f"{option}=choice({value})"
