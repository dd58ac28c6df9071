"""How far the work is: a bar on a terminal and in a notebook, elsewhere a line a minute and one per
phase, and a small file for the sweep that started this process and for `extrap status`.

    with Progress("train", total=2000) as progress:
        progress(120, note="loss 2.31")

The file is JSON with `phase`, `done`, `total`, `note` and `left`, the seconds to the end of the
phase at its pace. It is replaced as a whole, so that a reader never sees half of it. A sweep names
the file in the environment, as EXTRAP_PROGRESS; `kept(path)` does for a process by itself. Three
phases are ends: `skipped` (nothing was left to do), `held` (another process does the work, `note`
says which) and `failed` (`note` says why).
"""

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from tqdm import tqdm

FILE = "EXTRAP_PROGRESS"
PAUSE = 0.5  # seconds between two writes of the file
MINUTE = 60.0  # seconds between two lines where no bar is drawn
MOST = 1e9
"""Seconds that a file may speak of: thirty years."""

_kept: list[Path] = []


class Progress:
    """One phase of work: call it with the steps done so far (and the total, once it is known)."""

    def __init__(self, label: str, total: int | None = None) -> None:
        self._label, self._total, self._done = label, total, 0
        self._first: tuple[float, int] | None = None  # step of this process: a run may be resumed
        self._start = self._written = self._said = time.monotonic()
        self._written -= PAUSE
        shown = sys.stderr.isatty() or "ipykernel" in sys.modules  # a terminal, a notebook
        shown = shown and FILE not in os.environ
        self._bar = tqdm(desc=label, dynamic_ncols=True, file=sys.stderr) if shown else None
        self(0)

    def __call__(self, done: int, total: int | None = None, note: str = "") -> None:
        self._total, now = self._total if total is None else total, time.monotonic()
        if self._bar is not None:
            self._bar.total = self._total
            self._bar.set_postfix_str(note, refresh=False)
            self._bar.update(done - self._done)
        self._done, left = done, self._left(now, done)
        if now - self._written >= PAUSE or done == self._total:
            self._written = now
            write(self._label, done, self._total, note, left)
        if self._bar is None and now - self._said >= MINUTE:
            self._said = now
            state = {"phase": self._label, "done": done, "total": self._total, "note": note}
            print(", ".join(words(state | {"left": left})), file=sys.stderr, flush=True)

    def _left(self, now: float, done: int) -> float | None:
        """Seconds to the end; None before the second step, and without a total."""
        if self._first is None and done > 0:
            self._first = now, done
        if self._first is None or not self._total or done <= self._first[1]:
            return None
        return (now - self._first[0]) / (done - self._first[1]) * (self._total - done)

    def close(self) -> None:
        if self._bar is not None:
            return self._bar.close()
        took = time.monotonic() - self._start
        print(f"{self._label}: {self._done} in {took:.1f} s", file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def words(state: Mapping[str, Any]) -> list[str]:
    """`train 45 %`, `3:10 left`, `loss 2.31`: the state in a progress file, as far as known."""
    share, left = share_of(state), seconds_left(state)
    return [
        str(state.get("phase")) + ("" if share is None else f" {int(100 * share)} %"),
        *([] if left is None else [f"{clock(left)} left"]),
        *([str(state["note"])] if state.get("note") else []),
    ]


def share_of(state: Mapping[str, Any]) -> float | None:
    """The share of the phase that is done, 0 to 1; None if it is not known."""
    done, total = state.get("done"), state.get("total")
    if type(done) is int and type(total) is int and 0 <= done <= total and total > 0:
        return done / total
    return None


def seconds_left(state: Mapping[str, Any]) -> float | None:
    """Seconds to the end of the phase; None if the file holds no such number."""
    left: Any = state.get("left")
    return float(left) if type(left) in (int, float) and 0 <= left < MOST else None


def clock(seconds: float) -> str:
    """`4:07`, `1:04:07`"""
    minutes, s = divmod(round(seconds), 60)
    hours, m = divmod(minutes, 60)
    return f"{hours}:{m:02}:{s:02}" if hours else f"{m}:{s:02}"


@contextmanager
def kept(path: Path) -> Iterator[None]:
    """Inside, progress goes to a file as well; the file is gone afterwards."""
    _kept.append(path)
    try:
        yield
    finally:
        _kept.remove(path)
        with suppress(OSError):
            path.unlink(missing_ok=True)


def _file() -> Path | None:
    """The file that this process writes, or None."""
    named = os.environ.get(FILE)
    return Path(named) if named else next(iter(_kept), None)


def write(phase: str, done: int, total: int | None, note: str, left: float | None = None) -> None:
    """Replaces the progress file, if there is one. Work goes on if the disk is full: another write
    will report that.
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
    """Says that nothing was left to do: to the sweep, or on stderr."""
    if FILE in os.environ:
        write("skipped", 0, None, note)
    else:
        print(note, file=sys.stderr)


def held(note: str) -> None:
    """Tells the sweep that another process does the work: it comes back to it later."""
    write("held", 0, None, note)


def failed(note: str) -> None:
    """Tells the sweep, if there is one, why this process is about to end."""
    if FILE in os.environ:
        write("failed", 0, None, note)
