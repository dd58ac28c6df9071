"""From a config node to an object: `_target_` names a class, the other keys are its arguments.

A config that came out of a run folder or a checkpoint is data, not code. Only classes of this package are built, and of
packages the user's own command line names (plugins=[my_package]). Types are checked against the constructor's annotations,
so that a wrong value is one line before any work starts.
"""

import inspect
import types
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from math import isfinite
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from extrap.errors import UserError


def build(node: Any, path: str, plugins: Iterable[str] = (), kind: Any = None, **given: Any) -> Any:
    """The object a node describes; `given` reaches every constructor that has a parameter of that name.

    path: the option the node stands at ("scheme"), for messages. kind: the class that the object must be of; nothing else is built.
    Raises UserError for a target that is not allowed or does not exist, an unknown or missing argument, a value of the wrong type,
    and what the constructor raises for its values.
    """
    if isinstance(node, Mapping) and "_target_" in node:
        return _construct(find(node["_target_"], path, plugins, kind), node, path, plugins, given)
    if inspect.isclass(kind) and kind.__module__.startswith("extrap."):
        raise UserError(f"{path}={node}: expected {describe(kind)}; choose one of the files of its group")
    if isinstance(node, Mapping):
        return {key: build(value, f"{path}.{key}", plugins, _of_values(kind), **given) for key, value in node.items()}
    if isinstance(node, Sequence) and not isinstance(node, str):
        return [build(value, f"{path}[{n}]", plugins, **given) for n, value in enumerate(node)]
    return node


def _construct(cls: type, node: Mapping, path: str, plugins: Iterable[str], given: dict[str, Any]) -> Any:
    hints, parameters = get_type_hints(cls.__init__), inspect.signature(cls).parameters
    inner = {key: value for key, value in node.items() if key != "_target_"}
    values = {key: build(value, f"{path}.{key}", plugins, hints.get(key), **given) for key, value in inner.items()}
    check_arguments(cls, values, path, given)
    try:
        return cls(**{name: value for name, value in given.items() if name in parameters} | values)
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        named = str(error).split("=")[0] in parameters
        raise UserError(f"{path}.{error}" if named else f"{path}: {error}") from error
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "can't allocate memory" not in str(error):
            raise
        raise UserError(f"{path}: larger than the memory of this machine; give smaller options") from None


def check_arguments(cls: type, values: Mapping[str, Any], path: str, given: Iterable[str] = ()) -> None:
    """Raises UserError for an argument that is unknown, missing or of the wrong type; `given` come from elsewhere."""
    parameters, hints = inspect.signature(cls).parameters, get_type_hints(cls.__init__)
    if unknown := sorted(set(values) - set(parameters), key=str):
        known = ", ".join(sorted(set(parameters) - set(given))) or "none"
        raise UserError(f"{path}.{unknown[0]}: no such option; {cls.__name__} takes {known}")
    for name, parameter in parameters.items():
        if name not in values and name not in given and parameter.default is parameter.empty:
            raise UserError(f"{path}.{name}: missing; {cls.__name__} needs it")
        if name in values and not fits(values[name], hint := hints.get(name, Any)):
            shown = str(values[name]).lower() if isinstance(values[name], bool) else "null" if values[name] is None else values[name]
            raise UserError(f"{path}.{name}={shown}: expected {describe(hint)}")


def find(target: Any, path: str, plugins: Iterable[str] = (), kind: Any = None) -> type:
    """The class a `_target_` names. Raises UserError unless it is one of `extrap.` or of a plug-in, and of that kind."""
    allowed = ("extrap", *plugins)
    module, _, name = str(target).rpartition(".")
    if module.split(".")[0] not in allowed:
        raise UserError(f"{path}._target_={target}: only classes of {', '.join(allowed)} are built; name others in plugins=[...]")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        raise UserError(f"{path}._target_={target}: no such class") from None
    if not inspect.isclass(found) or found.__module__.split(".")[0] not in allowed:
        raise UserError(f"{path}._target_={target}: not a class of {', '.join(allowed)}")
    if inspect.isabstract(found) or (inspect.isclass(kind) and not issubclass(found, kind)):
        raise UserError(f"{path}._target_={target}: expected {describe(kind or Any)}")
    return found


def _of_values(kind: Any) -> Any:
    """X of an annotation dict[str, X], alone or in a union; None where it says nothing of the values of a mapping."""
    for hint in get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,):
        if get_origin(hint) is dict:
            return get_args(hint)[1]
    return None


def fits(value: Any, hint: Any) -> bool:
    """Whether a plain value suits an annotation: int, float, str, bool, None, Literal, unions, lists, dicts; anything else passes."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return any(fits(value, h) for h in get_args(hint))
    if origin is Literal:
        return value in get_args(hint)
    if origin in (list, Sequence, tuple):
        item = (get_args(hint) or (Any,))[0]
        return isinstance(value, list | tuple) and all(fits(v, item) for v in value)
    if origin is dict:
        return isinstance(value, Mapping) and all(fits(v, get_args(hint)[1]) for v in value.values())
    if hint is float:
        return (isinstance(value, float) and isfinite(value)) or fits(value, int)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63
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
        item = describe((get_args(hint) or (Any,))[0])
        return "a list of " + {"a whole number": "whole numbers", "a number": "numbers"}.get(item, item)
    if get_origin(hint) is dict:
        return f"{describe(get_args(hint)[1])} by name"
    return getattr(hint, "__name__", str(hint))
