"""The YAML of a choice, and how it was changed on the command line."""

import inspect
from collections.abc import Iterable, Mapping
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
