"""Completion of options and choices in a shell: `eval "$(extrap -sc install=bash)"`."""

import os
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, suppress
from io import StringIO

from extrap.utils.errors import UserError

ACTIONS, SHELLS = ("install", "uninstall", "query"), ("bash", "zsh", "fish")


def complete(words: Sequence[str], run: Callable[[], None]) -> None:
    """Runs Hydra's completion: `install` and `uninstall` print code for a shell, which asks with
    `query`. Raises UserError for other words. A mistake in a half-written line completes to
    nothing.
    """
    action, _, shell = words[0].partition("=") if len(words) == 1 else ("", "", "")
    if action not in ACTIONS or shell not in SHELLS:
        problem = "expected install=bash, install=zsh or install=fish, and no other word"
        remedy = 'eval "$(extrap -sc install=bash)" completes in this shell'
        raise UserError("-sc", " ".join(words), problem, remedy)
    if action != "query":
        return run()
    line = os.environ.setdefault("COMP_LINE", "extrap ")
    if not line.split(" ")[-1].startswith("-"):  # Hydra would act on a flag
        with suppress(Exception, SystemExit), redirect_stderr(StringIO()):
            run()
