"""Type hints as limits: which plain values a hint allows, and how it reads in a message.

A bound stands in the signature it belongs to, in the words of annotated-types:

    rows: Annotated[int, Interval(ge=1, le=2**22)] | None = None

What a hint does not speak of passes: an annotation that is no type, a value of a class that is not
plain.
"""

import inspect
import types
from collections.abc import Iterator, Mapping, Sequence
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
}
PLURALS = {"a whole number": "whole numbers", "a number": "numbers"}


def fits(value: Any, hint: Any) -> bool:
    """Whether a value suits a hint: plain types, Literal, unions, lists, dicts, bounds, classes."""
    origin = get_origin(hint)
    if origin is Annotated:
        return fits(value, get_args(hint)[0]) and all(_holds(value, b) for b in bounds(hint))
    if origin in (Union, types.UnionType):
        return any(fits(value, h) for h in get_args(hint))
    if origin is Literal:
        return value in get_args(hint)
    if origin in LISTS:
        return isinstance(value, list | tuple) and all(fits(v, of_items(hint)) for v in value)
    if origin is dict:
        return isinstance(value, Mapping) and all(fits(v, of_values(hint)) for v in value.values())
    if hint is float:
        return (isinstance(value, float) and isfinite(value)) or fits(value, int)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63
    if hint in (str, bool, types.NoneType):
        return isinstance(value, hint)
    return hint is Any or not inspect.isclass(hint) or isinstance(value, hint)


def describe(hint: Any) -> str:
    """A hint in words: `a whole number from 1 to 1000 or null`."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return describe(args[0]) + _words(list(bounds(hint)))
    if origin in (Union, types.UnionType):
        return " or ".join(describe(h) for h in args)
    if origin is Literal:
        return "one of " + ", ".join(map(str, args))
    if origin in LISTS:
        item = describe(of_items(hint))
        for one, many in PLURALS.items():
            item = many + item.removeprefix(one) if item.startswith(one) else item
        return f"a list of {item}"
    if origin is dict:
        return f"{describe(of_values(hint))} by name"
    if hint in LISTS:
        return "a list; its annotation must name the items, as Sequence[float] or extrap.Multiples"
    return WORDS.get(hint) or getattr(hint, "__name__", str(hint))


def members(hint: Any) -> tuple[Any, ...]:
    """The hints of a union, without their bounds; a hint that is none is its only member."""
    if get_origin(hint) is Annotated:
        return members(get_args(hint)[0])
    if get_origin(hint) in (Union, types.UnionType):
        return tuple(inner for h in get_args(hint) for inner in members(h))
    return (hint,)


def classes(hint: Any) -> tuple[type, ...] | None:
    """The classes whose objects suit a hint; None where it leaves that open."""
    found = [get_origin(h) or h for h in members(hint)]
    return tuple(found) if all(inspect.isclass(h) and h is not Any for h in found) else None


def of_items(hint: Any) -> Any:
    """X of list[X], alone or in a union; Any where the hint says nothing of the items of a list."""
    found = (get_args(h) for h in members(hint) if get_origin(h) in LISTS)
    return next((args[0] for args in found if args), Any)


def of_values(hint: Any) -> Any:
    """X of dict[str, X], alone or in a union; Any where the hint says nothing of such values."""
    found = (get_args(h) for h in members(hint) if get_origin(h) is dict)
    return next((args[1] for args in found if args), Any)


def bounds(hint: Any) -> Iterator[BaseMetadata]:
    """The bounds of Annotated[...], one by one."""
    for metadata in get_args(hint)[1:]:
        if isinstance(metadata, GroupedMetadata):
            yield from (bound for bound in metadata if isinstance(bound, BaseMetadata))
        elif isinstance(metadata, BaseMetadata):
            yield metadata


def _holds(value: Any, bound: BaseMetadata) -> bool:
    match bound:
        case Ge(ge=low):
            return value >= low
        case Gt(gt=low):
            return value > low
        case Le(le=high):
            return value <= high
        case Lt(lt=high):
            return value < high
        case MultipleOf(multiple_of=n):
            return value % n == 0
        case MinLen(min_length=n):
            return len(value) >= n
        case Different():
            return len(set(value)) == len(value)
    raise TypeError(f"{bound}: not a bound that a signature may hold")


def _words(found: list[BaseMetadata]) -> str:
    """` from 1 to 8, a multiple of 2`"""
    low, high, more = "", "", ""
    for bound in found:
        match bound:
            case Ge(ge=n):
                low = f" from {n}"
            case Gt(gt=n):
                low = f" above {n}"
            case Le(le=n):
                high = f" to {n}"
            case Lt(lt=n):
                high = f" to below {n}"
            case MultipleOf(multiple_of=n):
                more = f", a multiple of {n}"
            case MinLen(min_length=1):
                more = ", not empty"
            case MinLen(min_length=n):
                more = f", at least {n} of them"
            case Different():
                more += ", each once"
    if low.startswith(" from") and high:
        return low + high + more
    low = low.replace(" from", " of at least")
    high = high.replace(" to below", " below").replace(" to", " at most" if low else " of at most")
    return low + ("," if low and high else "") + high + more
