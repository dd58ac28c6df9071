"""Docstrings of public classes: first what the class is, then one line an option."""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

import pytest

import extrap
from extrap.utils.docs import OPTION, options, own_docstring

BEGINS_WRONG = re.compile(r"(?:[a-z_]\w*(?:, [a-z_]\w*)*|Args|Parameters|Source): |Raises ")


def classes() -> Iterator[type]:
    """Yields the public classes of extrap, each once."""
    for module in walk_packages(extrap.__path__, "extrap."):
        if "_plugins" in module.name or module.name.endswith("__main__"):
            continue
        for name, value in vars(import_module(module.name)).items():
            own = isinstance(value, type) and value.__module__ == module.name
            if own and not name.startswith("_"):
                yield value


@pytest.fixture(scope="module")
def public() -> list[type]:
    return list(classes())


def test_no_docstring_begins_with_an_option(public: list[type]) -> None:
    wrong = [
        cls.__qualname__
        for cls in public
        if BEGINS_WRONG.match(inspect.cleandoc(own_docstring(cls)))
    ]
    assert len(public) > 350 and wrong == []


def test_no_paragraph_holds_several_options(public: list[type]) -> None:
    """`a: ...; b: ...` in a row, where a and b are options of the class."""
    wrong = []
    for cls in public:
        named = {*options(cls), *inspect.get_annotations(cls)}
        text = " ".join(own_docstring(cls).split())
        wrong += [
            f"{cls.__qualname__}.{name}"
            for name in re.findall(r"; ([a-z_]\w*): ", text)
            if name in named
        ]
    assert wrong == []


def test_every_line_of_an_option_names_an_option(public: list[type]) -> None:
    """A line that stayed after its option went, or was misspelt."""
    wrong = []
    for cls in public:
        known = {name for one in cls.__mro__ for name in vars(one)}
        known |= {name for one in cls.__mro__ for name in inspect.get_annotations(one)}
        makers = [one.__init__ for one in cls.__mro__ if inspect.isfunction(one.__init__)]
        known |= {name for maker in makers for name in inspect.signature(maker).parameters}
        wrong += [f"{cls.__qualname__}.{name}" for name in options(cls) if name not in known]
    assert OPTION.match("    base: of the frequencies") and wrong == []
