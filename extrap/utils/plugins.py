"""Packages of the user's own, whose code comes in because the command line names them: plugins."""

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
"""Our own folder: a fault that it finds in a plug-in lies at the plug-in's line."""


def check_plugins(names: Iterable[object]) -> list[str]:
    """The names, found from the working folder too, which comes last, so that nothing there takes
    the place of a library. Raises UserError for what is not the name of a package that is there.
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
    """A module; None where there is none of that name. Raises UserError, which opens with the
    option that names it, for whatever is wrong inside it, with the line where that happens.
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
    """The line about an exception out of a plug-in: what it is, and where it happened."""
    if isinstance(error, SyntaxError) and error.filename:
        place = f"{error.filename}, line {error.lineno}"
    else:
        frames = traceback.extract_tb(error.__traceback__)
        theirs = [frame for frame in frames if not frame.filename.startswith(OURS)]
        frame = theirs[-1] if theirs else frames[-1]
        place = f"{frame.filename}, line {frame.lineno}"
    message = " ".join(str(error).split())
    return UserError(option, problem=f"{type(error).__name__} in {place}: {message}")
