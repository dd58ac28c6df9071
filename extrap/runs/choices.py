"""The YAML of a choice, how the command line changed it, and a mixture as an identity holds it."""

import inspect
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from extrap.runs.build import find
from extrap.runs.folder import fingerprint
from extrap.utils.paths import conf_dir
from extrap.utils.untrusted import read_yaml


def node(group: str, name: str) -> dict[str, Any] | None:
    """The YAML of a choice as plain values; None where its file lies in a folder of the user's."""
    path = Path(conf_dir()) / group / f"{name}.yaml"
    return read_yaml(path) if path.exists() else None


def changed(
    config: Mapping[str, Any],
    default: Mapping[str, Any] | None,
    plugins: Iterable[str] = (),
    path: str = "",
) -> dict[str, str]:
    """{option: value} where a configuration differs from its file, nested options as `first.b`;
    what is no number or word is hashed.

    Without a file, where it differs from the defaults of the class.
    """
    if default is None:
        parameters = inspect.signature(find(config["_target_"], "extension", plugins)).parameters
        default = {name: parameter.default for name, parameter in parameters.items()}
    found: dict[str, str] = {}
    for key, value in config.items():
        if isinstance(value, Mapping):
            inner = default.get(key)
            found |= changed(
                value, inner if isinstance(inner, Mapping) else None, plugins, f"{path}{key}."
            )
        elif key == "_target_":
            if default.get(key, value) != value:  # another class is another method
                found[path + key] = str(value).rpartition(".")[2]
        elif default.get(key, inspect.Parameter.empty) != value:
            found[path + key] = _short(value)
    return found


def without_factor(options: Mapping[str, str]) -> dict[str, str]:
    """The changed options of an extension but for its factor."""
    return {key: value for key, value in options.items() if key.split(".")[-1] != "factor"}


def written(choice: str, options: Mapping[str, str]) -> str:
    """`rerope,width=16`"""
    return ",".join([choice, *(f"{key}={value}" for key, value in options.items())])


def _short(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return str(value).lower().replace("none", "null")
    if isinstance(value, int | float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return (
        value
        if isinstance(value, str) and value.replace("-", "").isalnum() and len(value) <= 20
        else fingerprint(value)[:8]
    )


def describe_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """A mixture as an identity holds it: without the place of its text and of its tokenizer.

    The order of `more` seeds the draws of its parts: an unusual order is part of the identity.
    """
    kept = {
        name: value
        for name, value in data.items()
        if name != "corpus" and (name, value) != ("more", None)
    }
    own = data.get("vocabulary") or {}
    vocabulary = {name: value for name, value in own.items() if name != "tokenizer"}
    names = list(data.get("more") or {})
    order = {} if names == _usual_order(frozenset(names)) else {"order": names}
    return kept | {"vocabulary": vocabulary} | order


@cache
def _usual_order(names: frozenset[str]) -> list[str]:
    """The order in the file of conf/data with these parts, else the order of the alphabet."""
    for path in sorted(Path(conf_dir(), "data").glob("*.yaml")):
        listed = list((read_yaml(path) or {}).get("more") or {})
        if listed and names == {*listed}:
            return listed
    return sorted(names)
