"""Plug-ins: packages of the user's own that the command line names."""

import inspect
import os
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from extrap.utils.errors import UserError, disk_fault

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
    raise fault(inside, option, [module.split(".")[0]]) from inside


def fault(error: Exception, option: str, plugins: Iterable[str] = ()) -> UserError:
    """Returns the line about an exception: what it is, and where it happened, which is the last
    line of a plug-in on the way to it, or else the last that is not ours; without a place if every
    line is ours.
    """
    if isinstance(error, SyntaxError) and error.filename:
        place = f" in {error.filename}, line {error.lineno}"
    else:
        frames = traceback.extract_tb(error.__traceback__)
        theirs = [frame for frame in frames if not frame.filename.startswith(OURS)]
        last = (_within(error, plugins) or theirs)[-1:]
        place = "".join(f" in {frame.filename}, line {frame.lineno}" for frame in last)
    message = " ".join(str(error).split())
    return UserError(option, problem=f"{type(error).__name__}{place}: {message}")


def source(name: str) -> Path | None:
    """Returns the file of a module of a plug-in, `package.module`, without an import."""
    package, *rest = name.split(".")
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        return None
    file = Path(spec.origin).parent.joinpath(*rest).with_suffix(".py") if rest else spec.origin
    return path if (path := Path(file)).is_file() else None


@contextmanager
def told(plugins: Iterable[str]) -> Iterator[None]:
    """Raises UserError in place of any other exception that passed through code of a plug-in."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        if (mistake := blamed(error, plugins)) is None:
            raise
        raise mistake from error


def blamed(error: Exception, plugins: Iterable[str]) -> UserError | None:
    """Returns the line about an exception that passed through code of a plug-in. Returns None for
    other exceptions, for a full disk and for a reader that has gone.
    """
    other = isinstance(error, BrokenPipeError) or disk_fault(error) is not None
    for name in () if other else plugins:
        if _within(error, [name]):
            return fault(error, f"plugins={name}", [name])
    return None


def _within(error: Exception, plugins: Iterable[str]) -> list[traceback.FrameSummary]:
    """Returns the lines of plug-ins on the way to an exception."""
    names, way = set(plugins), traceback.walk_tb(error.__traceback__)
    inside = [str(frame.f_globals.get("__name__")).split(".")[0] in names for frame, _ in way]
    frames = traceback.extract_tb(error.__traceback__)
    return [frame for frame, own in zip(frames, inside, strict=True) if own]


def defined_at(function: Any) -> str:
    """Returns where a function of a plug-in stands, ` in FILE, line N`; nothing for ours."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None or code.co_filename.startswith(OURS):
        return ""
    return f" in {code.co_filename}, line {code.co_firstlineno}"


def other_arguments(cls: type) -> str:
    """Returns which method of a class of a plug-in takes other arguments than the method of its
    base class in extrap.
    """
    bases = [c for c in cls.__mro__ if c.__module__.split(".")[0] == "extrap"]
    for name, method in inspect.getmembers(cls, inspect.isfunction) if cls not in bases else ():
        ours = [vars(base).get(name) for base in bases]
        base = next(filter(inspect.isfunction, reversed(ours)), method)
        if base is method or (name.startswith("_") and name != "__call__"):
            continue
        wanted = inspect.signature(base).parameters
        plain = (p for p in wanted.values() if p.kind is p.POSITIONAL_OR_KEYWORD)
        takes = inspect.signature(method)
        try:
            takes.bind(*[p.name for p in plain if p.default is p.empty])
        except TypeError:
            known = ", ".join(takes.parameters)
            return f"{name}({known}){defined_at(method)}: expected {name}({', '.join(wanted)})"
    return ""
