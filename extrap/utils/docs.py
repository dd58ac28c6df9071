"""Docstrings of modules, classes and functions: cards, captions and texts of --help. `python -OO`
runs code without them, and the files still hold them.
"""

import ast
import inspect
import re
import sys
from textwrap import dedent
from types import FunctionType, ModuleType
from typing import Any

OPTION = re.compile(r"    ([a-z_]\w*(?:, [a-z_]\w*)*): (.*)")
"""An option, or several, and the begin of its line."""


def docstring(thing: Any) -> str:
    """Returns the docstring of a module, a class or a function, or "". A class has that of its
    nearest base that has one.
    """
    stripped = sys.flags.optimize > 1 and isinstance(thing, ModuleType | type | FunctionType)
    if not stripped:
        return inspect.getdoc(thing) or ""
    own = map(_written, thing.__mro__[:-1]) if isinstance(thing, type) else [_written(thing)]
    return next(filter(None, own), "")


def own_docstring(cls: type) -> str:
    """Returns the docstring that a class brings itself, or ""."""
    return _written(cls) if sys.flags.optimize > 1 else vars(cls).get("__doc__") or ""


def options(cls: type) -> dict[str, str]:
    """Returns {option: its line} of the parts `Args:` in the docstrings of a class and its bases.
    The class itself has the last word.
    """
    found: dict[str, str] = {}
    for one in reversed(cls.__mro__):
        lines = inspect.cleandoc(own_docstring(one)).splitlines()
        names: list[str] = []
        inside = False
        for line in lines:
            inside = line == "Args:" or (inside and line.startswith("    "))
            begin = OPTION.match(line) if inside else None
            if begin:
                names = begin[1].split(", ")
                found |= dict.fromkeys(names, begin[2])
            elif inside and line != "Args:":
                found |= {name: f"{found[name]} {line.strip()}" for name in names}
    return found


def _written(thing: Any) -> str:
    """Returns the docstring in the file of a thing, or "" without a file."""
    try:
        tree: Any = ast.parse(dedent(inspect.getsource(thing)))
    except (OSError, TypeError, SyntaxError):  # made without a file
        return ""
    return ast.get_docstring(tree if isinstance(thing, ModuleType) else tree.body[0]) or ""
