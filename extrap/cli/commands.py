"""`extrap`: a command by its name, or else a configuration to train and evaluate."""

import re
import sys
from importlib import import_module

from extrap.cli.shared import reported
from extrap.utils import matplotlibrc
from extrap.utils.errors import UserError, choose

COMMANDS = (
    *("judge", "status", "plot", "table", "compare", "report", "findings", "dashboard"),
    *("clean", "rows", "pack", "study", "publish", "verify", "schemes", "audit"),
    *("export", "export-trials", "layers", "longrope"),
)
"""Each has a module in extrap.cli, which alone is imported for it."""

WORD = re.compile(r"[A-Za-z][\w-]*")
"""A first word that is neither an option nor a flag: the name of a command."""


def module(name: str) -> str:
    """Returns the module of a command."""
    return f"extrap.cli.{name.replace('-', '_')}"


def main() -> None:
    """Runs the command that the first word names, or else the configuration."""
    matplotlibrc.settle()
    words = sys.argv[1:]
    first = words[0] if words else ""
    named = WORD.fullmatch(first) is not None
    if named:
        with reported():
            if first not in COMMANDS:
                raise UserError(first, problem="no such command", remedy=choose(first, COMMANDS))
        words = words[1:]
    import_module(module(first if named else "program")).main(words)
