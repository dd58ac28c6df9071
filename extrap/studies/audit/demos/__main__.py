"""Shows a demonstration; lists them without a name.

    python -m extrap.studies.audit.demos NAME [RUN]

RUN: a folder below runs; the demonstration `addition` then shows that trained model.
"""

import inspect
import sys
from importlib import import_module
from pathlib import Path

from extrap.cli.shared import reported
from extrap.utils.docs import docstring
from extrap.utils.errors import UserError

NAMES = [path.stem for path in sorted(Path(__file__).parent.glob("[a-z]*.py"))]


def main(words: list[str]) -> str:
    known = {name: import_module(f"extrap.studies.audit.demos.{name}") for name in NAMES}
    known = {name: module for name, module in known.items() if hasattr(module, "show")}
    if not words:
        first = {name: docstring(module).split("\n\n")[0] for name, module in known.items()}
        return "\n".join(f"{name:12} {' '.join(text.split())}" for name, text in first.items())
    if words[0] not in known:
        raise UserError(f"NAME={words[0]}: no such demonstration; choose among {', '.join(known)}")
    if len(words) > 1 + len(inspect.signature(known[words[0]].show).parameters):
        raise UserError(f"RUN={words[1]}: the demonstration {words[0]} shows no trained model")
    return known[words[0]].show(*words[1:])


if __name__ == "__main__":
    with reported("demos"):
        print(main(sys.argv[1:]))
