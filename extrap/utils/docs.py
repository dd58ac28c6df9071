"""Docstrings that programs show: captions, cards, tables."""

import ast
import inspect
import textwrap
from types import ModuleType


def docstring(thing: ModuleType | type) -> str:
    """The docstring of a module or a class, cleaned; empty where there is none. Python drops them
    under PYTHONOPTIMIZE=2: it is then read from the source.
    """
    if thing.__doc__ is not None:
        return inspect.cleandoc(thing.__doc__)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(thing)))
    except (OSError, TypeError, SyntaxError):  # no source of it
        return ""
    node = tree if isinstance(thing, ModuleType) else tree.body[0]
    return (isinstance(node, ast.Module | ast.ClassDef) and ast.get_docstring(node)) or ""
