"""Errors of Hydra and OmegaConf about a mistake on the command line as one line, `option=value:
problem; remedy`.
"""

import posixpath
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    MissingMandatoryValue,
    OmegaConfBaseException,
)

from extrap.utils.errors import UserError, choose, first_line, printable

COMPOSING = {
    r"^Sweep parameters '(.*)' requires": "{}: several values make a sweep; add -m",
    r"No match in the defaults list\.\nTo append to your default list use \+(.*)": (
        "{0}: not part of this configuration; add it with +{0}"
    ),
    r"^Could not delete '(.*?)'": "~{}: cannot be left out; give it another value",
    r"^Multiple values for (.*?)\.": "{}: chosen twice; choose it once, without +",
    r"^Error resolving interpolation '(.*?)'": "{}: no reference to an option; give the choice",
    r"^Could not append to config.*\nEither remove \+ prefix: '(.*)'": (
        "+{0}: this option exists; write {0}"
    ),
}
"""Messages of Hydra about the words of a command line, and the line in their place."""

ARGUMENTS = ("Config group override must be a string", "Only one of --run", "The --resolve flag")
"""Beginnings of messages of Hydra about flags and groups that name no option."""

VALUES = {
    "could not be converted to Integer": "must be a whole number",
    "could not be converted to Float": "must be a number",
    r"could not be converted to (\w+)": "must be {}",
    "is not a valid bool": "must be true or false",
    "is not Optional": "must not be empty",
    r"^Merge error: \w+ is not a subclass of \w+\. value: (.*)": "{} where options belong; give "
    "them one by one, as in train.steps=5",
    r"Cannot convert '(?:List|Dict)Config' to string": "refers to a list or to a group of options; "
    "refer to a single value",
    "is not a ListConfig, list or tuple": "must be a list, such as [a,b]",
    "^Invalid type assigned": "holds options of its own; give one of them, as in name.option=value",
    r"Unsupported interpolation type (\S+)": "a reference to {}; refer to options, `hydra:` or "
    "`now:`, or give the value itself",
    r"expected one of \[(.*)\]": "choose one of {}",
}
"""Messages of OmegaConf about a value, and the messages of extrap in their place."""


@contextmanager
def explained(overrides: list[str], conf: str) -> Iterator[None]:
    """Raises UserError in place of an error of Hydra or OmegaConf that a mistake causes."""
    try:
        yield
    except Exception as error:
        if (line := explain(error, overrides, conf)) is None:
            raise
        raise UserError(line) from None


def explain(error: BaseException, overrides: list[str], conf: str) -> str | None:
    """Returns the line about an error raised while Hydra composed a configuration from `overrides`
    and the folder `conf`; None for a bug.
    """
    match error:
        case OverrideParseException():
            word = printable(error.override)
            return f"{word}: not of the form option=value; see extrap --help"
        case MissingConfigException():
            return _no_such_file(error, overrides)
        case HydraException():
            return _composition(error, conf)
        case OmegaConfBaseException():
            return _value(error, error.full_key or first_line(error))
        case ValueError() if str(error).startswith(ARGUMENTS):
            return first_line(error)
    return None


@cache
def groups(conf: str) -> list[str]:
    """Folders of `conf` that hold options: `scheme`, `data/corpus`, ..."""
    folders = {file.parent.relative_to(conf).as_posix() for file in Path(conf).rglob("*.yaml")}
    return sorted(folder for folder in folders if folder != "." and not folder.startswith("hydra"))


def check_choices(overrides: list[str], choices: dict[str, Any]) -> None:
    """Raises UserError for `data.corpus=files`, which would silently put a word where the options
    of `data/corpus` belong, and for `scheme=rope.yaml`, which would be a second run of `rope`.
    """
    for group, choice in choices.items():
        if isinstance(choice, str):  # a path or a suffix leads to the same file
            name = posixpath.relpath(posixpath.join(group, choice.removesuffix(".yaml")), group)
            if name != choice:
                line = f"{group}={choice}: not the name of a choice; write {group}={name}"
                raise UserError(line)
    for override in overrides:
        key, _, value = override.partition("=")
        group = key.replace(".", "/")
        if group != key and group in choices:
            raise UserError(f"{override}: {group} is a choice of files; write {group}={value}")


def _no_such_file(error: MissingConfigException, overrides: list[str]) -> str:
    missing = error.missing_cfg_file or ""
    words = (word.lstrip("+") for word in overrides)
    typed = next((word for word in words if word.replace("=", "/", 1) == missing), "")
    group, _, name = (typed or "=".join(missing.rsplit("/", 1))).partition("=")
    searched = re.findall(r"^\tprovider=.*, path=file://(.*)$", str(error), re.MULTILINE)
    nested = []
    for one in searched:
        folder = Path(one, group)
        for path in folder.rglob("*.yaml"):
            nested.append(path.relative_to(folder).with_suffix("").as_posix())
    options = sorted({*map(str, error.options or []), *nested})
    if not options:
        return first_line(error)
    own = (word for word in overrides if re.fullmatch(rf"\+?{group}(@.*)?={re.escape(name)}", word))
    choice = next(own, f"{group}={name}")
    return f"{choice}: no such {group.rpartition('/')[2]}; {choose(name, options)}"


def _composition(error: HydraException, conf: str) -> str:
    text, cause = str(error), error.__cause__
    if found := re.match(r"Ambiguous value for argument '(.*?)'\n", text):
        group = found[1].partition("=")[0]
        lists = group == "task" or group not in groups(conf)
        remedy = "add -m" + (", or write [a,b] for one list" if lists else "")
        return f"{found[1]}: several values make a sweep; {remedy}"
    if found := re.match(r"You must specify '(.*?)'", text):
        options = [line.strip() for line in text.splitlines() if line.startswith("\t")]
        return f"{found[1]}: needs a choice; {choose('', options)}"
    if found := re.match(r"In '(.*?)': \w+ raised while composing", text):
        inner: Any = error.__context__
        value = "" if inner.value is None else f"={inner.value}"
        named = f": {inner.full_key}{value}" if inner.full_key else ""
        return _value(inner, f"{found[1]}.yaml{named}")
    if isinstance(cause, ConfigAttributeError | ConfigKeyError) and (
        found := re.search(r"To append to your config use \+(.*)", text)
    ):
        group = found[1].partition("=")[0]
        missing = f"no such group; {choose(group, groups(conf))}"
        return f"{found[1]}: {missing if '/' in group else _keys(cause)}"
    if isinstance(cause, OmegaConfBaseException):
        found = re.match(r"Error merging override (.*)", text)
        return _value(cause, found[1] if found else first_line(error))
    return _said(COMPOSING, text) or first_line(error)


def _said(table: dict[str, str], text: str) -> str | None:
    """Returns the line of the first pattern that a text holds, its groups put in."""
    for pattern, line in table.items():
        if found := re.search(pattern, text):
            return line.format(*found.groups())
    return None


def _keys(cause: Any) -> str:
    """Returns the line about a key that does not exist, with the keys that do."""
    level, _, name = str(cause.full_key).rpartition(".")
    keys = [str(k) for k in (cause.parent_node or []) if k not in ("hydra", "_target_")]
    if not keys:
        return f"the {level} chosen here has no options; give it where another is chosen"
    return f"no such option{f' in {level}' if level else ''}; {choose(name, keys)}"


def _value(error: OmegaConfBaseException, option: str) -> str:
    if isinstance(error, ConfigAttributeError | ConfigKeyError):
        return f"{option}: {_keys(error)}"
    text = first_line(error)
    if isinstance(error, MissingMandatoryValue):
        return f"{error.full_key}=???: needs a value; give {error.full_key}=..."
    said = _said(VALUES, text) or text
    return option if option == said else f"{option}: {said}"
