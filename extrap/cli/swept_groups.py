"""Options inside a group that is swept: `-m extension=pi,ntk extension.factor=8`.

Hydra composes what is not swept once, before any choice of the sweep, and would look for `factor`
inside the default extension. Such an option is handed on as a sweep of one value, which is put in
after the choice.
"""

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException


def swept_with_their_group(words: list[str]) -> list[str]:
    """The words of a command line; in a sweep (-m) with options of swept groups as `choice(...)`.
    What cannot be read stays as it is, for Hydra to say so.
    """
    if not {"-m", "--multirun"} & {*words}:
        return words
    read = [_override(word) for word in words]
    groups = {_prefix(one) for one in read if one and _is_swept_group(one)}
    return [
        _swept(word, one)
        if one and not one.is_sweep_override() and not one.is_delete() and _inside(one, groups)
        else word
        for word, one in zip(words, read, strict=True)
    ]


def _swept(word: str, one: Override) -> str:
    """A sweep of one value. `choice` takes no null, so that null stands there twice: of two jobs
    that are alike one is done.
    """
    option, _, value = word.partition("=")
    return f"{option}=null,null" if one.value() is None else f"{option}=choice({value})"


def _override(word: str) -> Override | None:
    if word.startswith("-"):
        return None
    try:
        return OverridesParser.create().parse_override(word)
    except HydraException:
        return None


def _is_swept_group(one: Override) -> bool:
    return one.is_sweep_override() and "." not in one.key_or_group


def _prefix(one: Override) -> str:
    """Where the options of a group stand: at its package if one is given."""
    return f"{one.package or one.key_or_group.replace('/', '.')}."


def _inside(one: Override, groups: set[str]) -> bool:
    return any(one.key_or_group.startswith(group) for group in groups)
