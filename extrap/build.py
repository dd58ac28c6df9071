"""From a config node to an object: `_target_` names a class, the other keys are its arguments.

A config that came out of a run folder or a checkpoint is data, not code. Only classes of this package are built, and of
packages the user's own command line names (plugins=[my_package]). Types are checked against the constructor's annotations,
so that a wrong value is one line before any work starts.
"""

import inspect
import types
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from extrap.errors import UserError


def build(node: Any, path: str, plugins: Iterable[str] = (), **given: Any) -> Any:
    """The object a node describes; `given` reaches every constructor that has a parameter of that name.

    path: the option the node stands at ("scheme"), for messages. Raises UserError for a target that is not allowed or does
    not exist, an unknown or missing argument, a value of the wrong type, and a ValueError of the constructor.
    """
    if isinstance(node, Mapping):
        values = {key: build(value, f"{path}.{key}", plugins, **given) for key, value in node.items() if key != "_target_"}
        return _construct(node["_target_"], values, path, plugins, given) if "_target_" in node else values
    if isinstance(node, Sequence) and not isinstance(node, str):
        return [build(value, f"{path}[{n}]", plugins, **given) for n, value in enumerate(node)]
    return node


def _construct(target: Any, values: dict[str, Any], path: str, plugins: Iterable[str], given: dict[str, Any]) -> Any:
    cls = find(target, path, plugins)
    parameters = inspect.signature(cls).parameters
    hints = get_type_hints(cls.__init__)
    if unknown := sorted(set(values) - set(parameters)):
        raise UserError(f"{path}.{unknown[0]}: no such option; {cls.__name__} takes {', '.join(sorted(set(parameters) - set(given)))}")
    arguments = {name: value for name, value in given.items() if name in parameters} | values
    for name, parameter in parameters.items():
        if name not in arguments and parameter.default is parameter.empty:
            raise UserError(f"{path}.{name}: missing; {cls.__name__} needs it")
        if name in values and not fits(values[name], hint := hints.get(name, Any)):
            raise UserError(f"{path}.{name}={values[name]}: expected {describe(hint)}")
    try:
        return cls(**arguments)
    except ValueError as error:
        named = str(error).split("=")[0] in parameters
        raise UserError(f"{path}.{error}" if named else f"{path}: {error}") from error


def find(target: Any, path: str, plugins: Iterable[str] = ()) -> type:
    """The class a `_target_` names. Raises UserError unless it is a class below `extrap.` or below a plug-in."""
    allowed = ("extrap", *plugins)
    module, _, name = str(target).rpartition(".")
    if module.split(".")[0] not in allowed:
        raise UserError(f"{path}._target_={target}: only classes of {', '.join(allowed)} are built; name others in plugins=[...]")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError):
        raise UserError(f"{path}._target_={target}: no such class") from None
    if not inspect.isclass(found) or found.__module__.split(".")[0] not in allowed:
        raise UserError(f"{path}._target_={target}: not a class of {', '.join(allowed)}")
    return found


def fits(value: Any, hint: Any) -> bool:
    """Whether a plain value suits an annotation: int, float, str, bool, None, Literal, unions, lists; anything else passes."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return any(fits(value, h) for h in get_args(hint))
    if origin is Literal:
        return value in get_args(hint)
    if origin in (list, Sequence, tuple):
        item = (get_args(hint) or (Any,))[0]
        return isinstance(value, list | tuple) and all(fits(v, item) for v in value)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if hint in (str, bool, types.NoneType):
        return isinstance(value, hint)
    return hint is Any or not inspect.isclass(hint) or isinstance(value, hint)


def describe(hint: Any) -> str:
    """An annotation in words."""
    words = {int: "a whole number", float: "a number", str: "text", bool: "true or false", types.NoneType: "null"}
    if hint in words:
        return words[hint]
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(describe(h) for h in get_args(hint))
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(map(str, get_args(hint)))
    if get_origin(hint) in (list, Sequence, tuple):
        return "a list of " + describe((get_args(hint) or (Any,))[0])
    return getattr(hint, "__name__", str(hint))
