"""Bounds of options stand in signatures: what they allow, how they read, and that they are kept."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_type_hints

import pytest
from annotated_types import Ge, Gt, Interval, Le, Lt, MinLen, MultipleOf

from extrap.audit.subject import DEFAULT_SHAPE
from extrap.model.scheme import Scheme
from extrap.runs.build import build, find
from extrap.utils.bounds import Multiples
from extrap.utils.errors import UserError
from extrap.utils.hints import describe, fits, members
from tests.support.discover import names, node

HINTS = {
    Annotated[int, Ge(1)]: ("a whole number of at least 1", [1, 7], [0, -3, 1.5, True, "1"]),
    Annotated[float, Gt(0)]: ("a number above 0", [1, 0.1], [0, -1, float("inf"), float("nan")]),
    Annotated[int, Le(8)]: ("a whole number, at most 8", [8, -9], [9]),
    Annotated[float, Lt(1)]: ("a number, below 1", [0.9], [1]),
    Annotated[int, Interval(ge=1, le=8)]: ("a whole number from 1 to 8", [1, 8], [0, 9]),
    Annotated[int, Ge(2), MultipleOf(2)]: (
        "a whole number of at least 2, a multiple of 2",
        [2, 4],
        [3, 0],
    ),
    Annotated[int, Ge(1)] | None: ("a whole number of at least 1 or null", [None, 1], [0]),
    Annotated[list[Annotated[int, Ge(1)]], MinLen(1)]: (
        "a list of whole numbers of at least 1, not empty",
        [[1, 2]],
        [[], [0], 1, [1.5]],
    ),
    Multiples: (
        "a list of numbers above 0, not empty, each once",
        [[1], [0.5, 1]],
        [[], [0, 1], [1, 1], 3],
    ),
    dict[str, Annotated[float, Gt(0)]]: ("a number above 0 by name", [{"a": 1.0}], [{"a": 0}, 3]),
    Literal["a", 1]: ("one of a, 1", ["a", 1], ["b"]),
    Any: ("Any", [object(), 3, None], []),
}


@pytest.mark.parametrize("hint", HINTS, ids=str)
def test_a_bound_is_kept_and_read_aloud(hint):
    words, inside, outside = HINTS[hint]
    assert describe(hint) == words
    assert all(fits(value, hint) for value in inside)
    assert not any(fits(value, hint) for value in outside)


class Outer:
    def __init__(self, part: Scheme, count: Annotated[int, Ge(1)] = 1):
        raise AssertionError("built before its arguments were looked at")


class Witness:
    def __init__(self):
        raise AssertionError("built before its type was looked at")


HERE = f"{__name__}."
MISPLACED = {
    "an argument": {"part": {"_target_": f"{HERE}Witness"}},
    "an unknown argument": {"part": None, "more": {"_target_": f"{HERE}Witness"}},
    "in a list": {"part": [{"_target_": f"{HERE}Witness"}]},
    "in place of a number": {"part": None, "count": {"_target_": f"{HERE}Witness"}},
}


@pytest.mark.parametrize("options", MISPLACED)
def test_nothing_is_built_before_its_type_is_checked(options):
    outer = {"_target_": f"{HERE}Outer"} | MISPLACED[options]
    with pytest.raises(UserError, match="outer"):
        build(outer, "outer", plugins=["tests"])


def entries() -> Iterator[tuple[str, str]]:
    """(scheme, option) for every whole number that a file of conf/scheme or its class takes."""
    for scheme in names("scheme"):
        cls = find(node("scheme", scheme)["_target_"], "scheme")
        for option, hint in get_type_hints(cls.__init__, include_extras=True).items():
            if int in members(hint):
                yield scheme, option


@pytest.mark.parametrize(("scheme", "option"), list(entries()))
def test_no_mistyped_number_fills_the_memory(scheme, option):
    """A table of 2**33 numbers is refused by name, or the option makes no table."""
    made, refusal = None, ""
    try:
        made = build(node("scheme", scheme) | {option: 2**33}, "scheme", shape=DEFAULT_SHAPE)
    except UserError as error:
        refusal = str(error)
    if made is None:
        assert refusal.startswith(f"scheme.{option}={2**33}: ")
    else:
        assert sum(p.numel() for p in made.parameters()) < 2**24
