"""Docstrings of modules, classes and functions: cards, captions and texts of --help. `python -OO`
runs code without them, and the files still hold them.
"""

import ast
import inspect
import sys
from textwrap import dedent
from types import FunctionType, ModuleType
from typing import Any


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


def _written(thing: Any) -> str:
    """Returns the docstring in the file of a thing, or "" without a file."""
    try:
        tree: Any = ast.parse(dedent(inspect.getsource(thing)))
    except (OSError, TypeError, SyntaxError):  # made without a file
        return ""
    return ast.get_docstring(tree if isinstance(thing, ModuleType) else tree.body[0]) or ""
