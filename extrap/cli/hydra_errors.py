"""What Hydra and OmegaConf say about a mistake on the command line, as one line: `option=value:
what is wrong; what is allowed`.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    MissingMandatoryValue,
    OmegaConfBaseException,
)

from extrap.cli.typed_paths import in_a_shell, quoted
from extrap.utils.errors import choose, printable

EXTRAS = {
    "hydra/launcher/submitit_slurm": (
        "hydra/launcher=slurm: needs hydra-submitit-launcher; pip install 'extrap[slurm]'"
    )
}
"""Files of packages that only some need, and what to say where they are missing."""

KINDS = {"Integer": "a whole number", "Float": "a number", "Bytes": "bytes", "Path": "a path"}


def explain(error: BaseException, overrides: list[str], conf: str) -> str | None:
    """The line about an error raised while a configuration was composed from `overrides` and the
    folder `conf`; None: it is a bug.
    """
    match error:
        case OverrideParseException():
            return _unreadable(error)
        case MissingConfigException():
            return _no_such_file(error, overrides, conf)
        case yaml.MarkedYAMLError(problem_mark=mark) if mark is not None:
            return f"{mark.name}: line {mark.line + 1} is not YAML: {error.problem}"
        case HydraException():
            return _composition(error, conf)
        case OmegaConfBaseException():
            return _value(error, error.full_key or _first(error))
        case ValueError() if str(error).startswith("Config group override must be a string"):
            return _no_name(overrides, conf)
        case ValueError() if "integer string conversion" in str(error):
            return (
                f"{max(overrides, key=len):.40}...: a number of too many digits; give a smaller one"
            )
        case ValueError() if str(error).startswith(("Only one of --run", "The --resolve flag")):
            return _first(error)
    return None


def groups(conf: str) -> list[str]:
    """Folders of `conf` that hold options: `scheme`, `data/corpus`, ..."""
    folders = {file.parent.relative_to(conf).as_posix() for file in Path(conf).rglob("*.yaml")}
    return sorted(folder for folder in folders if folder != "." and not folder.startswith("hydra"))


def misplaced(overrides: list[str], choices: dict[str, Any]) -> str | None:
    """Returns the line about `data.corpus=files`, which would silently put a word where the options
    of `data/corpus` belong, and about `scheme=rope.yaml`, which would be a second run of `rope`.
    """
    for group, choice in choices.items():
        if isinstance(choice, str) and (name := _plain_name(group, choice)) != choice:
            return f"{group}={choice}: not the name of a choice; write {group}={name}"
    for override in overrides:
        key, _, value = override.partition("=")
        group = key.replace(".", "/")
        if group != key and group in choices:
            return f"{override}: {group} is a choice of files; write {group}={value}"
    return None


def _plain_name(group: str, choice: str) -> str:
    """Returns the one name of a choice that a path or a suffix also leads to."""
    return posixpath.relpath(posixpath.join(group, choice.removesuffix(".yaml")), group)


def _first(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def _unreadable(error: OverrideParseException) -> str:
    override = printable(error.override)
    if "=" not in override:
        return f"{override}: not of the form option=value; see extrap --help"
    why = next(
        (
            line
            for line in error.message.splitlines()
            if not line.startswith(("Error parsing", "See "))
        ),
        "",
    )
    return (
        f"{override}: cannot be read ({printable(why.strip())}); brackets and quotes must close, "
        f"special characters need '...' around the value{_as_typed(error.override)}"
    )


def _as_typed(override: str) -> str:
    """What to type in a shell for a value that is taken as it is; empty where that is no cure."""
    option, _, value = override.partition("=")
    word = f"{option}={quoted(value)}"
    try:
        if re.search(r"[\[\]{}'\"]", value) is None and value.isprintable():
            OverridesParser.create().parse_override(word)
            return f": {in_a_shell(word)}"
    except HydraException:
        pass
    return ""


def _no_such_file(error: MissingConfigException, overrides: list[str], conf: str) -> str:
    missing = error.missing_cfg_file or ""
    if missing in EXTRAS:
        return EXTRAS[missing]
    words = [word.lstrip("+") for word in overrides]
    typed = next(
        (word for word in words if word.replace("=", "/", 1) == missing),
        "=".join(missing.rsplit("/", 1)),
    )
    group, _, name = typed.partition("=")
    own = Path(conf, group)  # of a group of groups Hydra names the files of the first level alone
    nested = [file.relative_to(own).with_suffix("").as_posix() for file in own.rglob("*.yaml")]
    options = (nested if group == "experiment" else error.options) or nested
    if not options:
        return _first(error)
    choice = next(
        (
            word
            for word in overrides
            if re.match(rf"\+?{re.escape(group)}(@.*?)?=.*{re.escape(name)}", word)
        ),
        f"{group}={name}",
    )
    return f"{choice}: no such {group.rpartition('/')[2]}; {choose(name, list(options))}"


def _no_name(overrides: list[str], conf: str) -> str:
    parsed = OverridesParser.create().parse_overrides(overrides)
    wrong = [
        str(o.input_line)
        for o in parsed
        if o.key_or_group in ["", *groups(conf)] and not isinstance(o.value(), str | list)
    ]
    return f"{' '.join(wrong)}: a group takes the name of one of its options; see extrap --help"


def _composition(error: HydraException, conf: str) -> str:
    text, cause = str(error), error.__cause__
    if found := re.match(r"Ambiguous value for argument '(.*?)'\n", text):
        group = found[1].partition("=")[0]
        lists = group == "task" or group not in groups(conf)
        remedy = "add -m" + (", or write [a,b] for one list" if lists else "")
        return f"{found[1]}: several values make a sweep; {remedy}"
    if found := re.match(r"Sweep parameters '(.*)' requires", text):
        return f"{found[1]}: several values make a sweep; add -m"
    if found := re.match(r"You must specify '(.*?)'", text):
        options = [line.strip() for line in text.splitlines() if line.startswith("\t")]
        return f"{found[1]}: needs a choice; {choose('', options)}"
    if found := re.search(
        r"No match in the defaults list\.\nTo append to your default list use \+(.*)", text
    ):
        return f"{found[1]}: not part of this configuration; add it with +{found[1]}"
    if found := re.match(r"Could not delete '(.*?)'", text):
        return f"~{found[1]}: cannot be left out; give it another value"
    if found := re.match(r"Multiple values for (.*?)\.", text):
        return f"{found[1]}: chosen twice; choose it once, without +"
    if found := re.match(r"Could not append to config.*\nEither remove \+ prefix: '(.*)'", text):
        return f"+{found[1]}: this option exists; write {found[1]}"
    if found := re.match(r"In '(.*?)': \w+ raised while composing", text):
        return _in_file(f"{found[1]}.yaml", error.__context__)
    if isinstance(cause, ConfigAttributeError | ConfigKeyError) and (
        found := re.search(r"To append to your config use \+(.*)", text)
    ):
        return _no_such_key(found[1], cause, conf)
    if isinstance(cause, OmegaConfBaseException):
        found = re.match(r"Error merging override (.*)", text)
        return _value(cause, found[1] if found else _first(error))
    return _first(error)


def _no_such_key(override: str, cause: Any, conf: str) -> str:
    key = override.partition("=")[0]
    if "/" in key:
        return f"{override}: no such group; {choose(key, groups(conf))}"
    return f"{override}: {_keys(cause)}"


def _in_file(file: str, error: Any) -> str:
    option = f"{file}: {error.full_key}" + (f"={error.value}" if error.value is not None else "")
    if isinstance(error, ConfigAttributeError | ConfigKeyError):
        return f"{option}: {_keys(error)}"
    return _value(error, option)


def _keys(cause: Any) -> str:
    """What is wrong with a key that does not exist, and which do."""
    level, _, name = str(cause.full_key).rpartition(".")
    keys = [str(k) for k in (cause.parent_node or []) if k not in ("hydra", "_target_")]
    if not keys:
        return f"{level} has no options inside"
    return f"no such option{f' in {level}' if level else ''}; {choose(name, keys)}"


def _value(error: OmegaConfBaseException, option: str) -> str:
    text = _first(error)
    if isinstance(error, MissingMandatoryValue):
        return f"{error.full_key}=???: needs a value; give {error.full_key}=..."
    if found := re.search(r"could not be converted to (\w+)", text):
        return f"{option}: must be {KINDS.get(found[1], found[1])}"
    if "is not a valid bool" in text:
        return f"{option}: must be true or false"
    if "is not Optional" in text:
        return f"{option}: must not be empty"
    if "is not a ListConfig, list or tuple" in text:
        return f"{option}: must be a list, such as [a,b]"
    if re.match(r"Invalid type assigned", text):
        return f"{option}: holds options of its own; give one of them, as in name.option=value"
    if found := re.search(r"expected one of \[(.*)\]", text):
        return f"{option}: choose one of {found[1]}"
    return option if option == text else f"{option}: {text}"
