"""From a config node to an object: `_target_` names a class, the other keys are its arguments.

A config that came out of a run folder or a checkpoint is data, not code. Only classes of this
package are built, and of packages the user's own command line names (plugins=[my_package]). What a
node may be follows from the constructor's annotations (extrap/runs/hints.py) and is checked before
anything of it is built, so that a wrong value is one line before any work starts.
"""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, get_type_hints

from extrap.runs.hints import classes, describe, fits, of_items, of_values
from extrap.utils.errors import UserError
from extrap.utils.plugins import imported


def build(node: Any, path: str, plugins: Iterable[str] = (), kind: Any = None, **given: Any) -> Any:
    """The object a node describes; `given` reaches every constructor that has a parameter of that
    name.

    path: the option the node stands at ("scheme"), for messages. kind: the class, or the type hint,
    that the object must suit; nothing else is built. Raises UserError for a target that is not
    allowed or does not exist, an unknown or missing argument, a value of the wrong type or out of
    bounds, and what the constructor raises for its values.
    """
    if isinstance(node, Mapping) and "_target_" in node:
        return _construct(find(node["_target_"], path, plugins, kind), node, path, plugins, given)
    if inspect.isclass(kind) and kind.__module__.startswith("extrap."):
        raise UserError(
            f"{path}={shown(node)}: expected {describe(kind)}; give its options, or choose a file "
            "of its group"
        )
    if isinstance(node, Mapping):
        inner = of_values(kind)
        return {
            key: build(value, f"{path}.{key}", plugins, inner, **given)
            for key, value in node.items()
        }
    if isinstance(node, Sequence) and not isinstance(node, str):
        inner = of_items(kind)
        return [
            build(value, f"{path}[{n}]", plugins, inner, **given) for n, value in enumerate(node)
        ]
    return node


def _construct(
    cls: type, node: Mapping, path: str, plugins: Iterable[str], given: dict[str, Any]
) -> Any:
    parameters, hints = _parameters(cls), _hints(cls)
    options = {key: value for key, value in node.items() if key != "_target_"}
    check_names(cls, options, path, given)
    values = {
        key: build(value, f"{path}.{key}", plugins, hints.get(key), **given)
        for key, value in options.items()
    }
    check_arguments(cls, values, path, given)
    try:
        return cls(**{name: value for name, value in given.items() if name in parameters} | values)
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        named = str(error).split("=")[0] in parameters
        raise UserError(f"{path}.{error}" if named else f"{path}: {error}") from error
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "can't allocate memory" not in str(error):
            raise
        raise UserError(
            f"{path}: larger than the memory of this machine; give smaller options"
        ) from None


def check_names(cls: type, names: Iterable[str], path: str, given: Iterable[str] = ()) -> None:
    """Raises UserError for an argument that is unknown or missing; `given` come from elsewhere."""
    parameters = _parameters(cls)
    if unknown := sorted(set(names) - set(parameters), key=str):
        known = ", ".join(sorted(set(parameters) - set(given))) or "none"
        raise UserError(f"{path}.{unknown[0]}: no such option; {cls.__name__} takes {known}")
    for name, parameter in parameters.items():
        if name not in names and name not in given and parameter.default is parameter.empty:
            raise UserError(f"{path}.{name}: missing; {cls.__name__} needs it")


def check_arguments(
    cls: type, values: Mapping[str, Any], path: str, given: Iterable[str] = ()
) -> None:
    """Raises UserError for an argument that is unknown, missing, of the wrong type or out of
    bounds; `given` come from elsewhere.
    """
    check_names(cls, values, path, given)
    hints = _hints(cls)
    for name, value in values.items():
        if not fits(value, hint := hints.get(name, Any)):
            raise UserError(f"{path}.{name}={shown(value)}: expected {describe(hint)}")


@cache
def _parameters(cls: type) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(cls).parameters


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls.__init__, include_extras=True)


def shown(value: Any) -> str:
    """A value as it is written on a command line."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def find(target: Any, path: str, plugins: Iterable[str] = (), kind: Any = None) -> type:
    """The class a `_target_` names. Raises UserError unless it is one of `extrap.` or of a plug-in,
    and its objects suit `kind`, a class or a type hint.
    """
    allowed = ("extrap", *plugins)
    module, _, name = str(target).rpartition(".")
    if module.split(".")[0] not in allowed:
        raise UserError(
            f"{path}._target_={target}: only classes of {', '.join(allowed)} are built; name "
            "others in plugins=[...]"
        )
    found = getattr(imported(module, f"{path}._target_={target}"), name, None)
    if found is None:
        raise UserError(f"{path}._target_={target}: no such class")
    if not inspect.isclass(found) or found.__module__.split(".")[0] not in allowed:
        raise UserError(f"{path}._target_={target}: not a class of {', '.join(allowed)}")
    suitable = None if kind is None else classes(kind)
    if inspect.isabstract(found) or (suitable is not None and not issubclass(found, suitable)):
        raise UserError(
            f"{path}._target_={target}: expected {describe(Any if kind is None else kind)}"
        )
    return found
