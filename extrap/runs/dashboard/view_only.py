"""A dashboard that can fail and stops nothing: it is a view, and the science goes on without it."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from extrap.runs.dashboard.page import Page
from extrap.runs.dashboard.reason import reason


class ViewOnly:
    """Hands everything on to a dashboard until that fails; then one warning, and nothing more.

    An unwritable or occupied folder, a name of a project that the server refuses, no memory for an
    image, no home folder: none of it concerns what is measured.
    """

    def __init__(self, shown: Any):
        self.shown = shown
        self.failed = False

    def _attempt(self, call: Callable[..., Any], *given: Any, otherwise: Any = None) -> Any:
        if self.failed:
            return otherwise
        try:
            return call(*given)
        except Exception as error:  # of a library that is not ours, in any way it likes
            self.failed = True
            print(
                f"extrap: logger: {reason(error)}; going on without it, logger=none leaves it out",
                file=sys.stderr,
            )
            return otherwise

    def start(self, page: Page) -> None:
        self._attempt(self.shown.start, page)

    def lightning(self) -> Any:
        logger = self._attempt(self.shown.lightning, otherwise=False)
        if logger:
            log = logger.log_metrics
            logger.log_metrics = lambda *given, **more: self._attempt(lambda: log(*given, **more))
        return logger

    def log(self, task: str, rows: Sequence[dict]) -> None:
        self._attempt(self.shown.log, task, rows)

    def draw(self, files: Sequence[Path], plugins: Sequence[str] = ()) -> None:
        self._attempt(self.shown.draw, files, plugins)

    def finish(self, code: int = 0) -> None:
        self._attempt(self.shown.finish, code)
