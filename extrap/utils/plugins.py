"""Plug-ins: packages of the user's own that the command line names."""

import inspect
import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from extrap.utils.errors import UserError, disk_fault

OURS = str(Path(__file__).parents[1]) + os.sep
"""Our own folder, left out where messages name the line of a fault."""


class Named(MetaPathFinder):
    """Finds packages by name in one folder each, and no other module there: libraries try to import
    optional modules, which anybody may have put into a working folder.

    folders: {package: folder}.
    """

    def __init__(self) -> None:
        self.folders: dict[str, str] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is not None or fullname not in self.folders:
            return None
        return PathFinder.find_spec(fullname, [self.folders[fullname]], target)


NAMED = Named()
"""The plug-ins of this process, in the working folder of the last check."""


def check_plugins(names: Iterable[object]) -> list[str]:
    """Returns the names. Raises UserError for a name without a package. From then on Python finds
    these packages in the working folder, after all others: nothing there replaces a library.
    """
    found = list(names)
    if not all(isinstance(name, str) and name.isidentifier() for name in found):
        raise UserError("plugins", found, "names of packages, such as plugins=[my_package]")
    named = [str(name) for name in found]
    NAMED.folders |= dict.fromkeys(named, os.getcwd())
    if NAMED not in sys.meta_path:
        sys.meta_path.append(NAMED)
    for name in named:
        try:
            spec = find_spec(name)
        except ValueError:
            problem = "a module without a file that jobs could import"
            remedy = "write it into a file, such as my_package.py"
            raise UserError("plugins", name, problem, remedy) from None
        if spec is None:
            raise UserError("plugins", name, "no such package here")
    return named


def imported(module: str, option: str) -> ModuleType | None:
    """Returns a module, or None if none has that name. Raises UserError for any fault inside it,
    with its line. option: names the module in messages.
    """
    if not module:
        return None
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name and f"{module}.".startswith(f"{error.name}."):
            return None
        inside: Exception = error
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
    remedy = _beside(error) if isinstance(error, ModuleNotFoundError) else ""
    return UserError(option, problem=f"{type(error).__name__}{place}: {message}", remedy=remedy)


def _beside(error: ModuleNotFoundError) -> str:
    """Returns the remedy for an import of a module of the working folder that nobody named."""
    name = str(error.name).partition(".")[0]
    here = PathFinder.find_spec(name, [os.getcwd()])
    return f"name {name}, which lies in the working folder, in plugins, too" if here else ""


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
    base class in extrap, the expected ones, and what new ones among them have.
    """
    bases = [c for c in cls.__mro__ if c.__module__.split(".")[0] == "extrap"]
    if cls in bases:
        return ""
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        ours = [vars(base).get(name) for base in bases]
        base = next(filter(inspect.isfunction, reversed(ours)), method)
        if base is method or (name.startswith("_") and name != "__call__"):
            continue
        wanted = inspect.signature(base).parameters
        takes = inspect.signature(method)
        if not _callable_as(takes, wanted) or _unpacked(takes, wanted):
            known, expected = ", ".join(takes.parameters), ", ".join(wanted)
            new = [p for p in wanted.values() if p.name not in takes.parameters]
            held = "".join(_attributes(p) for p in new)
            return f"{name}({known}){defined_at(method)}: expected {name}({expected}){held}"
    return ""


def _callable_as(takes: inspect.Signature, wanted: Mapping[str, inspect.Parameter]) -> bool:
    """True if a method can be called with the arguments that its base needs."""
    plain = (p for p in wanted.values() if p.kind is p.POSITIONAL_OR_KEYWORD)
    try:
        takes.bind(*[p.name for p in plain if p.default is p.empty])
    except TypeError:
        return False
    return True


def _unpacked(takes: inspect.Signature, wanted: Mapping[str, inspect.Parameter]) -> bool:
    """True if a method takes a field of a dataclass where its base takes the dataclass: the old
    form, whose other arguments may have defaults.
    """
    for own, expected in zip(takes.parameters.values(), wanted.values(), strict=False):
        held = expected.annotation
        if is_dataclass(held) and own.name in {field.name for field in fields(held)}:
            return True
    return False


def _attributes(parameter: inspect.Parameter) -> str:
    """Returns what an argument has that is a dataclass; nothing for other arguments."""
    if not is_dataclass(parameter.annotation):
        return ""
    always = [field.name for field in fields(parameter.annotation) if field.default is MISSING]
    return f", where {parameter.name} has {' and '.join([', '.join(always[:-1]), always[-1]])}"
