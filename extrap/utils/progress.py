"""How far the work is: a bar on a terminal, a line a minute and one per phase elsewhere, and a
small file for the sweep that started this process and for `extrap-status`.

    with Progress("train", total=2000) as progress:
        progress(120, note="loss 2.31")

The file is JSON with `phase`, `done`, `total`, `note` and `left`, the seconds that the phase goes
on at its pace, replaced as a whole, so that a reader never sees half of it. A sweep names it in the
environment, as EXTRAP_PROGRESS; `kept(path)` does for a process by itself. Three phases are not
work but ends: `skipped` (nothing was left to do), `held` (another process does it, `note` says
which) and `failed` (`note` says why).
"""

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from tqdm import tqdm

FILE = "EXTRAP_PROGRESS"
PAUSE = 0.5  # seconds between two writes of the file
MINUTE = 60.0  # seconds between two lines where no bar is drawn
_kept: list[Path] = []


class Pace:
    """How fast a phase goes, from its first step in this process on: one that is resumed begins
    somewhere in the middle.
    """

    def __init__(self) -> None:
        self._from: tuple[float, int] | None = None

    def left(self, done: int, total: int | None) -> float | None:
        """Seconds to the end; None before the second step, and where no end is known."""
        now = time.monotonic()
        if self._from is None and done > 0:
            self._from = now, done
        if self._from is None or not total or done <= self._from[1]:
            return None
        return (now - self._from[0]) / (done - self._from[1]) * (total - done)


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
    """The file that others read; written at most every `PAUSE` seconds, and always at the end of a
    phase.
    """

    def __init__(self, label: str) -> None:
        self._label, self._pace, self._next = label, Pace(), 0.0

    def show(self, done: int, total: int | None, note: str) -> None:
        left = self._pace.left(done, total)
        if time.monotonic() >= self._next or done == total:
            self._next = time.monotonic() + PAUSE
            write(self._label, done, total, note, left)

    def close(self) -> None:
        pass


class Line:
    """One line on stderr a minute, with time left, and one when the phase ends."""

    def __init__(self, label: str) -> None:
        self._label, self._pace, self._done = label, Pace(), 0
        self._start = time.monotonic()
        self._next = self._start + MINUTE

    def show(self, done: int, total: int | None, note: str) -> None:
        self._done = done
        left = self._pace.left(done, total)
        state = {"phase": self._label, "done": done, "total": total, "note": note, "left": left}
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + MINUTE
            print(", ".join(words(state)), file=sys.stderr, flush=True)

    def close(self) -> None:
        print(
            f"{self._label}: {self._done} in {time.monotonic() - self._start:.1f} s",
            file=sys.stderr,
            flush=True,
        )


def words(state: Mapping[str, Any]) -> list[str]:
    """`train 45 %`, `3:10 left`, `loss 2.31` of what a progress file holds, as far as it does."""
    share, left = share_of(state), seconds_left(state)
    return [
        str(state.get("phase")) + ("" if share is None else f" {int(100 * share)} %"),
        *([] if left is None else [f"{clock(left)} left"]),
        *([str(state["note"])] if state.get("note") else []),
    ]


def share_of(state: Mapping[str, Any]) -> float | None:
    """How much of its phase is done, 0 to 1; None where that is not known."""
    done, total = state.get("done"), state.get("total")
    if type(done) is int and type(total) is int and 0 <= done <= total and total > 0:
        return done / total
    return None


def seconds_left(state: Mapping[str, Any]) -> float | None:
    """Seconds that the phase goes on, where the file holds a number of them."""
    left: Any = state.get("left")
    return float(left) if type(left) in (int, float) and 0 <= left < MOST else None


MOST = 1e9
"""Seconds that a file may speak of: thirty years."""


def clock(seconds: float) -> str:
    """`4:07`, `1:04:07`"""
    minutes, s = divmod(round(seconds), 60)
    hours, m = divmod(minutes, 60)
    return f"{hours}:{m:02}:{s:02}" if hours else f"{m}:{s:02}"


class Progress:
    """One phase of work: call it with what is done so far (and, where it became known only now, the
    total).
    """

    def __init__(self, label: str, total: int | None = None) -> None:
        self._total = total
        bar = sys.stderr.isatty() and FILE not in os.environ
        self._views: list[View] = [Bar(label) if bar else Line(label)]
        if _file() is not None:
            self._views.append(File(label))
        self(0)

    def __call__(self, done: int, total: int | None = None, note: str = "") -> None:
        if total is not None:
            self._total = total
        for view in self._views:
            view.show(done, self._total, note)

    def close(self) -> None:
        for view in self._views:
            view.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


@contextmanager
def kept(path: Path) -> Iterator[None]:
    """Inside, progress is written to a file as well, which is gone afterwards."""
    _kept.append(path)
    try:
        yield
    finally:
        _kept.remove(path)
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _file() -> Path | None:
    """The file that this process writes, if it does."""
    named = os.environ.get(FILE)
    return Path(named) if named else next(iter(_kept), None)


def write(phase: str, done: int, total: int | None, note: str, left: float | None = None) -> None:
    """Replaces the progress file. Work goes on where it cannot be written: a disk that is full is
    told by what matters more.
    """
    path = _file()
    if path is None:
        return
    state = {"phase": phase, "done": done, "total": total, "note": note}
    draft = path.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        draft.write_text(json.dumps(state | {"left": left and round(left, 1)}), encoding="utf-8")
        os.replace(draft, path)


def skipped(note: str) -> None:
    """Says that there was nothing left to do: to the sweep, or to whoever reads stderr."""
    if FILE in os.environ:
        write("skipped", 0, None, note)
    else:
        print(note, file=sys.stderr)


def held(note: str) -> None:
    """Tells the sweep that another process does the work: it comes back to it later."""
    write("held", 0, None, note)


def failed(note: str) -> None:
    """Tells the sweep, if there is one, why this process is about to end; stderr is the
    caller's.
    """
    if FILE in os.environ:
        write("failed", 0, None, note)
