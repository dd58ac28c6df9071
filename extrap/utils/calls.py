"""Calls from Python: arguments checked against the hints of a function."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, TypeVar

from extrap.utils.errors import UserError, choose
from extrap.utils.hints import describe, fits

F = TypeVar("F", bound=Callable[..., Any])


def checked(function: F) -> F:
    """Returns a function that raises UserError for an argument that its hints do not allow, for an
    unknown or missing argument, and for code inside that ends the process.

    Iterables and scalars of numpy count as lists and numbers of Python, and reach the function so.
    """
    signature = inspect.signature(function)

    @wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        try:
            bound = signature.bind(*args, **named)
        except TypeError as error:
            raise _misnamed(function.__name__, signature, named, error) from None
        for name, value in bound.arguments.items():
            about = signature.parameters[name]
            several = about.kind is about.VAR_POSITIONAL
            values = value if several else [value]
            found = [_checked(name, one, about.annotation) for one in values]
            bound.arguments[name] = tuple(found) if several else found[0]
        try:
            return function(*bound.args, **bound.kwargs)
        except SystemExit as end:
            # Lightning ends the process where Ctrl-C stops a training
            if isinstance(end.__context__, KeyboardInterrupt):
                raise KeyboardInterrupt from None
            problem = f"code inside called sys.exit({end.code!r})"
            raise UserError(function.__name__, problem=problem, remedy="return instead") from end

    return call  # type: ignore[return-value]


def _misnamed(
    function: str, signature: inspect.Signature, named: dict[str, Any], error: TypeError
) -> UserError:
    for name in named:
        if name not in signature.parameters:
            known = choose(name, signature.parameters)
            return UserError(name, problem="no such argument", remedy=known)
    return UserError(function, problem=error)


def _checked(name: str, value: Any, hint: Any) -> Any:
    plain = value if hint is Any else _plain(value)
    if fits(plain, hint):
        return plain
    shown = value if isinstance(value, str | int | float) else type(value).__name__
    raise UserError(name, f"{shown!s:.60}", f"expected {describe(hint)}")


def _plain(value: Any) -> Any:
    """Returns iterables as lists and scalars of numpy as numbers; other objects unchanged."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return value.item()
    plain = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
    if plain and not hasattr(value, "columns"):  # a DataFrame
        return [_plain(one) for one in value]
    return value
