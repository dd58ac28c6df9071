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
    known = {}
    for name in NAMES:
        module = import_module(f"extrap.studies.audit.demos.{name}")
        if hasattr(module, "show"):
            known[name] = module
    if not words:
        lines = []
        for name, module in known.items():
            first = docstring(module).split("\n\n")[0]
            lines.append(f"{name:12} {' '.join(first.split())}")
        return "\n".join(lines)
    name, *runs = words
    if name not in known:
        raise UserError(f"NAME={name}: no such demonstration; choose among {', '.join(known)}")
    show = known[name].show
    taken = inspect.signature(show).parameters
    if len(runs) > len(taken):
        raise UserError(f"RUN={runs[0]}: the demonstration {name} shows no trained model")
    return show(*runs)


if __name__ == "__main__":
    with reported("demos"):
        print(main(sys.argv[1:]))
