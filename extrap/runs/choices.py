"""The YAML of a choice, its changes on the command line, and a mixture in an identity."""

import inspect
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from extrap.runs.build import find
from extrap.runs.identity import fingerprint
from extrap.utils.paths import conf_dir
from extrap.utils.untrusted import read_yaml


def node(group: str, name: str) -> dict[str, Any] | None:
    """Returns the YAML of a choice as plain values; None for a file of the user's."""
    path = Path(conf_dir()) / group / f"{name}.yaml"
    return read_yaml(path) if path.exists() else None


def changed(
    config: Mapping[str, Any],
    default: Mapping[str, Any] | None,
    plugins: Iterable[str] = (),
    path: str = "",
) -> dict[str, str]:
    """Returns {option: value} of the options that differ from the file, or without a file from the
    defaults of the class: nested ones as `first.b`, values other than numbers and words hashed.
    """
    if default is None:
        parameters = inspect.signature(find(config["_target_"], "extension", plugins)).parameters
        default = {name: parameter.default for name, parameter in parameters.items()}
    found: dict[str, str] = {}
    for key, value in config.items():
        if isinstance(value, Mapping):
            known = default.get(key)
            unknown = None if "_target_" in value else {}  # a mapping has no class with defaults
            inner = known if isinstance(known, Mapping) else unknown
            found |= changed(value, inner, plugins, f"{path}{key}.")
        elif key == "_target_":
            if default.get(key, value) != value:  # another class is another method
                found[path + key] = str(value).rpartition(".")[2]
        elif default.get(key, inspect.Parameter.empty) != value:
            found[path + key] = _short(value)
    return found


def without_factor(options: Mapping[str, str]) -> dict[str, str]:
    """Returns the changed options of an extension without its factor."""
    return {key: value for key, value in options.items() if key.split(".")[-1] != "factor"}


def written(choice: str, options: Mapping[str, str]) -> str:
    """`rerope,width=16`"""
    return ",".join([choice, *(f"{key}={value}" for key, value in options.items())])


def _short(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return str(value).lower().replace("none", "null")
    if isinstance(value, int | float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    word = isinstance(value, str) and value.replace("-", "").isalnum() and len(value) <= 20
    return value if word else fingerprint(value)[:8]


UNSET = {"more": None, "tokens": None, "lengths": None, "spread": False}
"""Options of a mixture that the first runs did not have, with the values that mean the same."""


def describe_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a mixture as an identity holds it: without the paths of its text and tokenizer, with
    an unusual order of `more`, which seeds the draws of its parts.
    """
    kept = {}
    for name, value in data.items():
        unset = name in UNSET and value == UNSET[name]
        if name != "corpus" and not unset:
            kept[name] = value
    own = data.get("vocabulary") or {}
    vocabulary = {name: value for name, value in own.items() if name != "tokenizer"}
    names = list(data.get("more") or {})
    order = {} if names == _usual_order(frozenset(names)) else {"order": names}
    return kept | {"vocabulary": vocabulary} | order


@cache
def _usual_order(names: frozenset[str]) -> list[str]:
    """Returns the order in the file of conf/data with these parts, else the alphabetical one."""
    for path in sorted(Path(conf_dir(), "data").glob("*.yaml")):
        listed = list((read_yaml(path) or {}).get("more") or {})
        if listed and names == {*listed}:
            return listed
    return sorted(names)


def of_others(config: Mapping[str, Any]) -> bool:
    """True if a configuration is about a checkpoint of others, or about an engine."""
    return "checkpoint" in config["model"] or served(config)


def served(config: Mapping[str, Any]) -> bool:
    """True if a configuration is about a model that an engine serves."""
    return "url" in config["model"]
