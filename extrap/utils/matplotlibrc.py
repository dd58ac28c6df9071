"""matplotlib without the `matplotlibrc` of the working folder, and without a backend that is not
installed.

matplotlib reads this file as soon as anything imports matplotlib, such as the metrics that
Lightning imports, and in front of the file that MATPLOTLIBRC names: settings that are evaluated, a
pipe that never ends, or no settings at all. Read here: `matplotlib_fname` of 3.10 and 3.11. A
notebook leaves its backend in MPLBACKEND, also for processes of environments that lack it.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import ModuleType

FILE, BACKEND, DATE = "matplotlibrc", "MPLBACKEND", "SOURCE_DATE_EPOCH"


@contextmanager
def hidden() -> Iterator[None]:
    """Inside, the file of the working folder does not exist for `os.path`, and MPLBACKEND names no
    module that is not installed.
    """
    exists = os.path.exists
    os.path.exists = lambda path: path != FILE and exists(path)
    backend = os.environ.pop(BACKEND) if _lost(os.environ.get(BACKEND, "")) else None
    try:
        yield
    finally:
        os.path.exists = exists
        if backend is not None:
            os.environ[BACKEND] = backend


def _lost(backend: str) -> bool:
    """True for `module://X` if no package X is installed; imports nothing."""
    scheme, _, module = backend.partition("://")
    package = module.partition(".")[0]
    if scheme != "module" or package in sys.modules:
        return False
    return not package or find_spec(package) is None


class Matplotlib(MetaPathFinder):
    """Finds matplotlib as Python does, and runs its first module inside `hidden`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "matplotlib":
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                with hidden():
                    run(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def leave_out() -> None:
    """Leaves the file out whenever this process imports matplotlib; call it before the import."""
    if not any(isinstance(finder, Matplotlib) for finder in sys.meta_path):
        sys.meta_path.insert(0, Matplotlib())


def settle() -> None:
    """Leaves the user's settings and backend of matplotlib out as well: figures of a command look
    the same everywhere, and no window opens. Leaves out a date of figures that is no date, which
    matplotlib fails on.
    """
    os.environ |= {"MATPLOTLIBRC": os.devnull, "MPLBACKEND": "agg"}
    try:
        datetime.fromtimestamp(int(os.environ.get(DATE, "0")), UTC)
    except (ValueError, OverflowError, OSError):
        del os.environ[DATE]
