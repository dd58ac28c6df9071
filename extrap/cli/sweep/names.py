"""Names of the jobs of a sweep, and the command that started it."""

import re
import shlex
import sys


def labels(batch: list[list[str]]) -> list[str]:
    """Returns the overrides in which the jobs differ; all overrides of a single job."""
    shared = set.intersection(*map(set, batch)) if len(batch) > 1 else set()
    return [" ".join(o for o in overrides if o not in shared) or "defaults" for overrides in batch]


TYPED: list[str] = []
"""The command line as it was typed, before it was made readable for Hydra."""


def typed() -> str:
    """Returns the command that started this program."""
    return shlex.join(["extrap", *(TYPED or sys.argv)[1:]])


def file_name(number: int, label: str) -> str:
    """`003-scheme=rope,seed=0.log`: safe in every shell and file system, short, and different for
    different numbers.
    """
    safe = re.sub(r"[^\w.=+-]+", ",", label)
    return f"{number:03}-{safe[:80]}.log"
