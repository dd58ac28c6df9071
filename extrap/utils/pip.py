"""Commands that install packages into the environment of extrap.

`pip install 'extrap[slurm]'` is none of them: on PyPI another program has the name extrap.
"""

import os
import re
import shlex
import sys
from importlib.metadata import PackageNotFoundError, requires

from extrap.utils.paths import repository


def install_extra(extra: str) -> str:
    """Returns the command that installs the packages of an extra, within the bounds of extrap."""
    try:
        listed = requires("extrap") or []
    except PackageNotFoundError:  # a source tree on the import path
        listed = []
    of_extra = re.compile(rf"""extra == ['"]{extra}['"]""")
    packages = [one.partition(";")[0].strip() for one in listed if of_extra.search(one)]
    return _install(packages or [f".[{extra}]"])


def install_pinned(package: str) -> str:
    """Returns the command that installs a package; in a clone the version that results were made
    with.
    """
    clone = repository()
    pins = [] if clone is None else ["-c", os.path.relpath(clone / "constraints.txt")]
    return _install([*pins, package])


def _install(words: list[str]) -> str:
    return shlex.join([sys.executable, "-m", "pip", "install", *words])
