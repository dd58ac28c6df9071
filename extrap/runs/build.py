"""From a config node to an object: `_target_` names a class, the other keys are its arguments.

A config from a run folder or a checkpoint is data: extrap builds only its own classes and those of
packages that the command line names (plugins=[my_package]). It checks a node against the
annotations of the constructor (extrap/utils/hints.py) before it builds any part of it.
"""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, get_type_hints

from extrap.utils.errors import UserError
from extrap.utils.hints import LISTS, classes, describe, fits, inner
from extrap.utils.plugins import imported, other_arguments


def build(node: Any, path: str, plugins: Iterable[str] = (), kind: Any = None, **given: Any) -> Any:
    """Builds the object that a node describes. `given` reaches every constructor that has a
    parameter of that name.

    Args:
        path: the option the node stands at ("scheme"), for messages
        kind: the class, or the type hint, that the object must suit; nothing else is built

    Raises UserError for a target that is not allowed or does not exist, an unknown or missing
    argument, a value of the wrong type or out of bounds, and a ValueError of the constructor.
    """
    if isinstance(node, Mapping) and "_target_" in node:
        return _construct(find(node["_target_"], path, plugins, kind), node, path, plugins, given)
    if inspect.isclass(kind) and kind.__module__.startswith("extrap."):
        remedy = "give its options, or choose a file of its group"
        raise UserError(path, node, f"expected {describe(kind)}", remedy)
    if isinstance(node, Mapping):
        hint = inner(kind, dict)
        return {key: build(v, f"{path}.{key}", plugins, hint, **given) for key, v in node.items()}
    if isinstance(node, Sequence) and not isinstance(node, str):
        hint = inner(kind, *LISTS)
        return [build(v, f"{path}[{n}]", plugins, hint, **given) for n, v in enumerate(node)]
    return node


def _construct(
    cls: type, node: Mapping, path: str, plugins: Iterable[str], given: dict[str, Any]
) -> Any:
    parameters, hints = _parameters(cls), _hints(cls)
    options = {key: value for key, value in node.items() if key != "_target_"}
    if unknown := sorted(set(options) - set(parameters), key=str):
        known = ", ".join(sorted(set(parameters) - set(given))) or "none"
        problem = f"no such option; {cls.__name__} takes {known}"
        raise UserError(f"{path}.{unknown[0]}", problem=problem)
    for name, parameter in parameters.items():
        if name not in options and name not in given and parameter.default is parameter.empty:
            raise UserError(f"{path}.{name}", problem=f"missing; {cls.__name__} needs it")
    values = {
        key: build(value, f"{path}.{key}", plugins, hints.get(key), **given)
        for key, value in options.items()
    }
    for name, value in values.items():
        if not fits(value, hint := hints.get(name, Any)):
            raise UserError(f"{path}.{name}", value, f"expected {describe(hint)}")
    try:
        return cls(**{name: value for name, value in given.items() if name in parameters} | values)
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        named = str(error).split("=")[0] in parameters
        raise UserError(f"{path}.{error}" if named else f"{path}: {error}") from error


@cache
def _parameters(cls: type) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(cls).parameters


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls.__init__, include_extras=True)


def find(target: Any, path: str, plugins: Iterable[str] = (), kind: Any = None) -> type:
    """Returns the class that a `_target_` names. Raises UserError unless it is one of `extrap.` or
    of a plug-in, and its objects suit `kind`, a class or a type hint.
    """
    option, allowed = f"{path}._target_", ("extrap", *plugins)
    module, _, name = str(target).rpartition(".")
    only = f"only classes of {', '.join(allowed)} are built"
    if module.split(".")[0] not in allowed:
        raise UserError(option, target, only, "name others in plugins=[...]")
    found = getattr(imported(module, f"{option}={target}"), name, None)
    if found is None:
        raise UserError(option, target, "no such class")
    if not inspect.isclass(found) or found.__module__.split(".")[0] not in allowed:
        raise UserError(option, target, only)
    if (suitable := classes(kind)) is not None and not issubclass(found, suitable):
        raise UserError(option, target, f"expected {describe(kind)}")
    if inspect.isabstract(found):
        base = inspect.getmembers(found, lambda member: hasattr(member, "__isabstractmethod__"))
        missing = " and ".join(name for name, method in base if method.__isabstractmethod__)
        raise UserError(option, target, f"does not define {missing}", "define it, as its base says")
    if problem := other_arguments(found):
        raise UserError(option, target, problem, "take the arguments of its base class")
    return found
