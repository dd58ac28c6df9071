"""Values of the command line, read by the types of their options.

A text stays the text that was typed: `study=2024_11_25`, `label=1e3`. A reference may give a number
as a text: `seed=${now:%Y}`. A number of the model, the scheme, the data or the tuning is written as
its file writes it, so that `scheme.base=10000`, the default 10000.0, names the same run; another
number is written in one form, 500 as 500.0. Options of extensions and tasks keep the form that was
typed, which rows of studies hold: they make no other series.
"""

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_type_hints

from extrap.cli.composed import Composed
from extrap.cli.schema import Config
from extrap.cli.sweep.varied import parsed, put
from extrap.cli.words import number, written
from extrap.runs.build import find
from extrap.utils.errors import UserError
from extrap.utils.hints import LISTS, fits, inner, members
from extrap.utils.plugins import check_plugins
from extrap.utils.untrusted import read_yaml

FORMS = {"scheme": float, "model": float, "data": float, "finetune": int}
"""The form of a number in an option of float, in groups that are part of the name of a run."""

NOWHERE = object()
"""What lies at a path that leads out of a configuration."""


def settled(composed: Composed) -> dict[str, Any]:
    """Returns the options of a configuration with each typed value in the type of its option."""
    values = composed.values
    check_plugins(values.get("plugins") or ())  # types of their options are read below
    for one in map(parsed, composed.overrides):
        path = one.key_or_group.split(".")
        if one.is_delete() or one.package is not None or "/" in one.key_or_group:
            continue
        typed, current = one.value(), _at(values, path)
        if current is NOWHERE or isinstance(current, Mapping) or typed is None:
            continue
        hint = _hint(values, path)
        # the schema writes a number as a text in a way of its own
        number_as_text = isinstance(typed, int | float) and str in members(hint)
        found = _read(typed if number_as_text else current, hint)
        if (form := FORMS.get(path[0])) is not None:
            found = _spelled(found, hint, form, _default(composed, path))
        values = put(values, path, found)
    return values


def _at(values: Any, path: Sequence[str]) -> Any:
    """Returns what lies at a path of names, and of places in lists; NOWHERE without it."""
    for name in path:
        if isinstance(values, list):  # the parts of a stack
            values = dict(zip(map(str, range(len(values))), values, strict=True))
        values = values.get(name, NOWHERE) if isinstance(values, Mapping) else NOWHERE
    return values


def _hint(values: Mapping[str, Any], path: Sequence[str]) -> Any:
    """Returns the type of an option, Any without one."""
    hint: Any = Config
    node: Any = values
    for depth, name in enumerate(path):
        known = _hints(node, values, path[:depth])
        hint = known.get(name, Any) if known is not None else inner(hint, dict, *LISTS)
        node = _at(node, [name])
    return hint


def _hints(node: Any, values: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any] | None:
    """Returns the types of the options of a node; None for a mapping of any names, and a list."""
    cls: Any = None
    match list(path):
        case []:
            cls = Config
        case ["train"]:
            return {}  # the schema has typed it
        case ["model"] if "checkpoint" in node:
            from extrap.runs.published import Reading

            cls = Reading
        case ["model"]:
            from extrap.model.decoder import Decoder

            cls = Decoder
        case ["trainer"]:
            from extrap.runs.training.options import TrainerOptions

            cls = TrainerOptions
    if cls is not None:
        return get_type_hints(cls, include_extras=True)
    if not isinstance(node, Mapping) or "_target_" not in node:
        return None
    try:
        found = find(node["_target_"], ".".join(path), values.get("plugins") or ())
        return get_type_hints(found.__init__, include_extras=True)
    except (UserError, NameError, TypeError):  # which the check of the job reports
        return {}


def _read(value: Any, hint: Any) -> Any:
    """Returns a value in its type: the text of a number, the number of a text."""
    if isinstance(value, list):
        return [_read(one, inner(hint, *LISTS)) for one in value]
    if isinstance(value, int | float) and not fits(value, hint) and str in members(hint):
        return written(value)
    if isinstance(value, str) and (hint is Any or not fits(value, hint)):
        return value if (found := number(value)) is None else found
    return value


def _spelled(value: Any, hint: Any, form: type, default: Any) -> Any:
    """Returns a number as its file writes it, else in the form of its group."""
    if isinstance(value, bool) or type(value) not in (int, float, list):
        return value
    if value == default and not isinstance(default, bool):
        return default
    if isinstance(value, list):
        return [_spelled(one, inner(hint, *LISTS), form, None) for one in value]
    real = float in members(hint) and int not in members(hint) and abs(value) < 2**53
    return form(value) if real and form(value) == value else value


def _default(composed: Composed, path: Sequence[str]) -> Any:
    """Returns the value of an option in the file of its choice, else in the signature of its class;
    None without either.
    """
    for depth in range(len(path) - 1, 0, -1):
        group = "/".join(path[:depth])
        choice = composed.choices.get(group)
        for folder in composed.folders if isinstance(choice, str) else ():
            if (file := Path(folder, group, f"{choice}.yaml")).is_file():
                default = _at(read_yaml(file), path[depth:])
                if default is not NOWHERE:
                    return default
    target = _at(composed.values, [*path[:-1], "_target_"])
    if target is NOWHERE:
        return None
    try:
        found = find(target, path[0], composed.values.get("plugins") or ())
        default = inspect.signature(found).parameters[path[-1]].default
    except (UserError, KeyError, ValueError, TypeError):
        return None
    return None if default is inspect.Parameter.empty else default
