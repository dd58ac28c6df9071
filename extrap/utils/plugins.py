"""Plug-ins: packages of the user's own that the command line names."""

import os
import sys
import traceback
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from extrap.utils.errors import UserError

OURS = str(Path(__file__).parents[1]) + os.sep
"""Our own folder, left out where messages name the line of a fault."""


def check_plugins(names: Iterable[object]) -> list[str]:
    """Returns the names. Raises UserError for a name without a package. The working folder comes
    last on Python's path, so that nothing there replaces a library.
    """
    found = list(names)
    if not all(isinstance(name, str) and name.isidentifier() for name in found):
        raise UserError("plugins", found, "names of packages, such as plugins=[my_package]")
    if found and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    for name in found:
        if find_spec(str(name)) is None:
            raise UserError("plugins", name, "no such package here")
    return [str(name) for name in found]


def imported(module: str, option: str) -> ModuleType | None:
    """Returns a module, or None if none has that name. Raises UserError for any fault inside it,
    with its line. option: names the module in messages.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or f"{module}.".startswith(f"{error.name}."):
            return None
        inside: Exception = error
    except ValueError:
        return None
    except Exception as error:  # code of a plug-in, which may fail in any way
        inside = error
    raise fault(inside, option) from inside


def fault(error: Exception, option: str) -> UserError:
    """Returns the error about an exception out of a plug-in, with its place."""
    if isinstance(error, SyntaxError) and error.filename:
        place = f"{error.filename}, line {error.lineno}"
    else:
        frames = traceback.extract_tb(error.__traceback__)
        theirs = [frame for frame in frames if not frame.filename.startswith(OURS)]
        frame = theirs[-1] if theirs else frames[-1]
        place = f"{frame.filename}, line {frame.lineno}"
    message = " ".join(str(error).split())
    return UserError(option, problem=f"{type(error).__name__} in {place}: {message}")
