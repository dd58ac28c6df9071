"""Values of the command line, read by the types of their options.

A text stays the text that was typed: `study=2024_11_25`, `label=1e3`. A reference may give a number
as a text: `seed=${now:%Y}`. A number of the model, the scheme, the data or the tuning is written as
the file of its choice writes it, whether it was typed or comes from an experiment, so that
`scheme.base=10000`, the default 10000.0, names the same run; another number is written in one form,
500 as 500.0. Options that refer to it follow. Options of extensions and tasks keep the form that
was typed, which rows of studies hold: they make no other series.
"""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from extrap.cli.composed import Composed
from extrap.cli.config_schema import Config
from extrap.cli.sweep.varied import parsed, put
from extrap.cli.words import number, written
from extrap.runs.build import find
from extrap.utils.errors import UserError
from extrap.utils.hints import LISTS, fits, inner, members
from extrap.utils.paths import conf_dir
from extrap.utils.plugins import check_plugins
from extrap.utils.untrusted import read_yaml

FORMS = {"scheme": float, "model": float, "data": float, "finetune": int}
"""The form of a number in an option of float, in groups that are part of the name of a run."""

NOWHERE = object()
"""What lies at a path that leads out of a configuration."""


def settled(composed: Composed) -> dict[str, Any]:
    """Returns the options of a configuration with each typed value in the type of its option, and
    numbers in one form.
    """
    check_plugins(composed.values.get("plugins") or ())  # types of their options are read below
    values = _typed(composed, composed.values)
    numbers = _numbers(composed, values)
    if numbers and composed.again is not None:
        values = _typed(composed, composed.again(numbers))
    for option, value in numbers.items():
        values = put(values, option.split("."), value)
    return values


def _typed(composed: Composed, values: dict[str, Any]) -> dict[str, Any]:
    """Returns options with each typed value in the type of its option."""
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
        values = put(values, path, _read(typed if number_as_text else current, hint))
    return values


def _numbers(composed: Composed, values: dict[str, Any]) -> dict[str, Any]:
    """Returns the numbers, and lists of numbers, that are written in another form in a composed
    configuration, by option.
    """
    found = {}
    for group, form in FORMS.items():
        for path, value in _leaves(values.get(group), [group]):
            equal = (d for d in _defaults(composed, path) if d == value and type(d) is not bool)
            own = next(equal, NOWHERE)
            if own is NOWHERE:
                own = _spelled(value, _hint(values, path), form)
            if repr(own) != repr(_at(composed.values, path)):
                found[".".join(path)] = own
    return found


def _leaves(node: Any, path: list[str]) -> Iterator[tuple[list[str], Any]]:
    """Yields the numbers and lists of numbers of a node, each with its path."""
    if isinstance(node, list) and not all(type(one) in (int, float) for one in node):
        node = {str(place): one for place, one in enumerate(node)}
    if type(node) in (int, float, list):
        yield path, node
    for name, inside in node.items() if isinstance(node, dict) else ():
        if isinstance(name, str) and "." not in name:
            yield from _leaves(inside, [*path, name])


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


def _spelled(value: Any, hint: Any, form: type) -> Any:
    """Returns a number in the form of its group, if its option takes it so."""
    if isinstance(value, list):
        return [_spelled(one, inner(hint, *LISTS), form) for one in value]
    real = float in members(hint) and int not in members(hint) and abs(value) < 2**53
    return form(value) if real and form(value) == value else value


@cache
def _content(file: Path, changed: int) -> Any:
    return read_yaml(file)


def _defaults(composed: Composed, path: Sequence[str]) -> Iterator[Any]:
    """Yields the values of an option in its files, and in the signature of its class: first in an
    experiment of extrap's own, which rows of studies hold, then in the file of its choice.
    """
    experiment = composed.choices.get("experiment")
    files = [(Path(conf_dir(), "experiment", f"{experiment}.yaml"), path)]
    places = {key.rpartition("@")[2].replace("/", "."): key for key in composed.choices}
    for depth in range(len(path) - 1, 0, -1):
        if (key := places.get(".".join(path[:depth]))) is not None:
            group, choice = key.partition("@")[0], composed.choices[key]
            own = (Path(folder, group, f"{choice}.yaml") for folder in composed.folders)
            files += [(file, path[depth:]) for file in own]
    for file, inside in files:
        if file.is_file():
            default = _at(_content(file, file.stat().st_mtime_ns), inside)
            if default is not NOWHERE:
                yield default
    target = _at(composed.values, [*path[:-1], "_target_"])
    try:
        found = find(target, path[0], composed.values.get("plugins") or ())
        yield inspect.signature(found).parameters[path[-1]].default
    except (UserError, KeyError, ValueError, TypeError):
        return
