"""How far the work is: a bar on a terminal, a small file for the sweep that started this process,
one line per phase elsewhere.

    with Progress("train", total=2000) as progress:
        progress(120, note="loss 2.31")

The environment variable EXTRAP_PROGRESS names the file: JSON with `phase`, `done`, `total` and
`note`, replaced as a whole, so that a reader never sees half of it. Two phases are not work but
ends: `skipped` (nothing was left to do) and `failed` (`note` says why).
"""

import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from tqdm import tqdm

FILE = "EXTRAP_PROGRESS"
PAUSE = 0.5  # seconds between two writes of the file


class View(Protocol):
    def show(self, done: int, total: int | None, note: str) -> None: ...

    def close(self) -> None: ...


class Bar:
    """A tqdm bar with time left."""

    def __init__(self, label: str) -> None:
        self._bar = tqdm(desc=label, dynamic_ncols=True, file=sys.stderr)

    def show(self, done: int, total: int | None, note: str) -> None:
        self._bar.total = total
        self._bar.set_postfix_str(note, refresh=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        self._bar.close()


class File:
    """The file that the status line of a sweep reads; written at most every `PAUSE` seconds, and
    always at the end of a phase.
    """

    def __init__(self, label: str) -> None:
        self._label, self._next = label, 0.0

    def show(self, done: int, total: int | None, note: str) -> None:
        if time.monotonic() >= self._next or done == total:
            self._next = time.monotonic() + PAUSE
            write(self._label, done, total, note)

    def close(self) -> None:
        pass


class Line:
    """One line on stderr when the phase ends."""

    def __init__(self, label: str) -> None:
        self._label, self._start, self._done = label, time.monotonic(), 0

    def show(self, done: int, total: int | None, note: str) -> None:
        self._done = done

    def close(self) -> None:
        print(
            f"{self._label}: {self._done} in {time.monotonic() - self._start:.1f} s",
            file=sys.stderr,
        )


class Progress:
    """One phase of work: call it with what is done so far (and, where it became known only now, the
    total).
    """

    def __init__(self, label: str, total: int | None = None) -> None:
        self._total = total
        view: type[View] = File if FILE in os.environ else Bar if sys.stderr.isatty() else Line
        self._view = view(label)
        self._view.show(0, total, "")

    def __call__(self, done: int, total: int | None = None, note: str = "") -> None:
        if total is not None:
            self._total = total
        self._view.show(done, self._total, note)

    def close(self) -> None:
        self._view.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def write(phase: str, done: int, total: int | None, note: str) -> None:
    """Replaces the progress file. Work goes on where it cannot be written: a disk that is full is
    told by what matters more.
    """
    path = Path(os.environ[FILE])
    draft = path.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        draft.write_text(
            json.dumps({"phase": phase, "done": done, "total": total, "note": note}),
            encoding="utf-8",
        )
        os.replace(draft, path)


def skipped(note: str) -> None:
    """Says that there was nothing left to do: to the sweep, or to whoever reads stderr."""
    if FILE in os.environ:
        write("skipped", 0, None, note)
    else:
        print(note, file=sys.stderr)


def failed(note: str) -> None:
    """Tells the sweep, if there is one, why this process is about to end; stderr is the
    caller's.
    """
    if FILE in os.environ:
        write("failed", 0, None, note)
