"""Type hints as limits: the plain values that a hint allows, and the hint in words.

A bound stands in the signature of its option, in the words of annotated-types:

    rows: Annotated[int, Interval(ge=1, le=2**22)] | None = None

An annotation that is no type allows every value.
"""

import inspect
import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple
from itertools import chain
from math import isfinite
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import BaseMetadata, Ge, GroupedMetadata, Gt, Le, Lt, MinLen, MultipleOf

from extrap.utils.bounds import Different

LISTS = (list, Sequence, tuple)
WORDS = {
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
    types.NoneType: "null",
    dict: "a mapping",
}
BOUNDS: dict[type[BaseMetadata], tuple[str, Callable[..., bool]]] = {
    Ge: (" of at least {}", lambda value, low: value >= low),
    Gt: (" above {}", lambda value, low: value > low),
    Le: (", at most {}", lambda value, high: value <= high),
    Lt: (", below {}", lambda value, high: value < high),
    MultipleOf: (", a multiple of {}", lambda value, n: value % n == 0),
    MinLen: (", not empty", lambda value, n: len(value) >= n),
    Different: (", each once", lambda value: len(set(value)) == len(value)),
}
"""The words of each bound, and its test of a value."""


def fits(value: Any, hint: Any) -> bool:
    """True if a value suits a hint: a type, Literal, union, list, dict, bound or class."""
    origin = get_origin(hint)
    if origin is Annotated:
        return fits(value, get_args(hint)[0]) and all(
            BOUNDS[type(bound)][1](value, *astuple(bound)) for bound in bounds(hint)
        )
    if origin in (Union, types.UnionType):
        return any(fits(value, h) for h in get_args(hint))
    if origin is Literal:
        return value in get_args(hint)
    if origin in LISTS:
        return isinstance(value, list | tuple) and all(fits(v, inner(hint, *LISTS)) for v in value)
    if origin is dict:
        return isinstance(value, Mapping) and all(
            fits(v, inner(hint, dict)) for v in value.values()
        )
    if hint is float:
        return (isinstance(value, float) and isfinite(value)) or fits(value, int)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63
    if hint in (str, bool, types.NoneType):
        return isinstance(value, hint)
    return hint is Any or not inspect.isclass(hint) or isinstance(value, hint)


def describe(hint: Any) -> str:
    """Returns a hint in words: `a whole number from 1 to 1000 or null`."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        words = "".join(BOUNDS[type(bound)][0].format(*astuple(bound)) for bound in bounds(hint))
        return describe(args[0]) + re.sub(r" of at least (\S+), at most ", r" from \1 to ", words)
    if origin in (Union, types.UnionType):
        return " or ".join(describe(h) for h in args)
    if origin is Literal:
        return "one of " + ", ".join(map(str, args))
    if origin in LISTS:
        item = describe(inner(hint, *LISTS))
        return "a list of " + re.sub(r"^a ((?:whole )?number|mapping)", r"\1s", item)
    if origin is dict:
        value = inner(hint, dict)
        return WORDS[dict] if value is Any else f"{describe(value)} by name"
    if hint in LISTS:
        return "a list; its annotation must name the items, as Sequence[float] or extrap.Multiples"
    return WORDS.get(hint) or getattr(hint, "__name__", str(hint))


def members(hint: Any) -> tuple[Any, ...]:
    """Returns the hints of a union, without their bounds; of another hint itself."""
    if get_origin(hint) is Annotated:
        return members(get_args(hint)[0])
    if get_origin(hint) in (Union, types.UnionType):
        return tuple(chain.from_iterable(map(members, get_args(hint))))
    return (hint,)


def classes(hint: Any) -> tuple[type, ...] | None:
    """Returns the classes whose objects suit a hint; None if it leaves that open, or is None."""
    found = [get_origin(h) or h for h in members(hint)]
    return tuple(found) if all(inspect.isclass(h) and h is not Any for h in found) else None


def inner(hint: Any, *origins: type) -> Any:
    """Returns X of list[X] or dict[str, X], alone or in a union; Any without such a hint."""
    found = ((get_origin(h), get_args(h)) for h in members(hint))
    return next((args[origin is dict] for origin, args in found if args and origin in origins), Any)


def bounds(hint: Any) -> Iterator[Any]:
    """Yields the bounds of Annotated[...]."""
    for metadata in get_args(hint)[1:]:
        grouped = isinstance(metadata, GroupedMetadata)
        yield from (b for b in (metadata if grouped else [metadata]) if isinstance(b, BaseMetadata))
