"""Progress: a bar on a terminal and in a notebook, elsewhere a line a minute and one per phase; and
a small file for the sweep that started this process and for `extrap status`.

    with Progress("train", total=2000) as progress:
        progress(120, note="loss 2.31")

The file is JSON with `phase`, `done`, `total`, `note`, `left`, the seconds to the end of the phase
at its pace, `device`, the name that a sweep gives it in EXTRAP_DEVICE, what the work adds, such as
`rate` (tokens per second) and `memory` (bytes), and `told`, a line that a sweep says once. A sweep
names the file in the environment, as EXTRAP_PROGRESS; a process by itself in `kept(path)`.
"""

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from threading import Event, Thread
from typing import Any, Self

from tqdm import tqdm

FILE, DEVICE = "EXTRAP_PROGRESS", "EXTRAP_DEVICE"
PAUSE = 0.5  # seconds between two writes of the file
BEAT = 1.0  # seconds between two moves of a bar while the work is silent
MINUTE = 60.0  # seconds between two lines where no bar is drawn
MOST = 1e9
"""Seconds that a file may speak of: thirty years."""

LEFT = 75
"""Exit code of the first of several processes that leaves the work to others: the rest end, too."""

_kept: list[Path] = []
_told: list[str] = []


class Progress:
    """One phase of work: call it with the steps done so far (and the total, once it is known).

    Args:
        label: the name of the phase
        total: its steps, None if they are not known yet
        beats: the bar moves and the lines come while the work is silent, too: the first line after
            a second. A thread of its own draws them.
    """

    def __init__(self, label: str, total: int | None = None, beats: bool = False) -> None:
        self._label, self._total, self._done = label, total, 0
        self._first: tuple[float, int] | None = None  # step of this process: a run may be resumed
        self._start = self._written = self._said = time.monotonic()
        self._written -= PAUSE
        shown = sys.stderr.isatty() or "ipykernel" in sys.modules  # a terminal, a notebook
        shown = shown and FILE not in os.environ
        self._bar = tqdm(desc=label, dynamic_ncols=True, file=sys.stderr) if shown else None
        self._state: dict[str, Any] = {}
        self._ended = Event()
        self._thread = Thread(target=self._beat, daemon=True) if beats else None
        self(0)

    def __call__(self, done: int, total: int | None = None, note: str = "", **more: float) -> None:
        """Takes the steps done; more: other numbers for the file."""
        self._total, now = self._total if total is None else total, time.monotonic()
        if self._bar is not None:
            self._bar.total = self._total
            self._bar.set_postfix_str(note, refresh=False)
            if self._first is None and done > 1:  # a resumed run: its pace begins here
                self._bar.initial = self._bar.n = self._bar.last_print_n = done
                self._bar.start_t = self._bar.last_print_t = time.time()
                self._bar.refresh()
            self._bar.update(done - self._bar.n)
        self._done, left = done, self._left(now, done)
        state = {
            "phase": self._label,
            "done": done,
            "total": self._total,
            "note": note,
            "left": left and round(left, 1),
            "device": os.environ.get(DEVICE, ""),
        }
        self._state = state = state | more
        if now - self._written >= PAUSE or done == self._total:
            self._written = now
            write(state)
        if self._bar is None and self._thread is None and now - self._said >= MINUTE:
            self._say(now)

    def _say(self, now: float) -> None:
        self._said = now
        print(", ".join(words(self._state)), file=sys.stderr, flush=True)

    def _beat(self) -> None:
        self._said -= MINUTE
        while not self._ended.wait(BEAT):
            if self._bar is not None:
                self._bar.refresh()
            elif (now := time.monotonic()) - self._said >= MINUTE:
                self._say(now)

    def _left(self, now: float, done: int) -> float | None:
        """Returns the seconds to the end; None before the second step, and without a total."""
        if self._first is None and done > 0:
            self._first = now, done
        if self._first is None or not self._total or done <= self._first[1]:
            return None
        return (now - self._first[0]) / (done - self._first[1]) * (self._total - done)

    def __enter__(self) -> Self:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        if self._bar is not None:
            return self._bar.close()
        took = time.monotonic() - self._start
        done = "" if self._total is None and not self._done else f"{self._done} in "
        print(f"{self._label}: {done}{took:.1f} s", file=sys.stderr, flush=True)


def words(state: Mapping[str, Any]) -> list[str]:
    """Returns `train 45 %`, `3:10 left`, `loss 2.31`, `GPU 3`, `1.2 GB`, `52,000 tokens/s` of a
    progress file, as far as known.
    """
    done, total = state.get("done"), state.get("total")
    left, rate, memory = (_number(state.get(name)) for name in ("left", "rate", "memory"))
    share = ""
    if type(done) is int and type(total) is int and 0 <= done <= total > 0:
        share = f" {int(100 * done / total)} %"
    return [
        f"{state.get('phase')}{share}",
        *([f"{clock(left)} left"] if left is not None and left < MOST else []),
        *(str(state[name]) for name in ("note", "device") if state.get(name)),
        *([f"{memory / 1e9:.1f} GB"] if memory else []),
        *([f"{rate:,.0f} tokens/s"] if rate else []),
    ]


def _number(value: Any) -> float | None:
    """Returns a number from 0 on, None for anything else."""
    return value if type(value) in (int, float) and 0 <= value < inf else None


def clock(seconds: float) -> str:
    """`4:07`, `1:04:07`"""
    minutes, s = divmod(round(seconds), 60)
    hours, m = divmod(minutes, 60)
    return f"{hours}:{m:02}:{s:02}" if hours else f"{m}:{s:02}"


@contextmanager
def kept(path: Path) -> Iterator[None]:
    """Writes progress to a file as well, which is gone after the context."""
    _kept.append(path)
    try:
        yield
    finally:
        _kept.remove(path)
        with suppress(OSError):
            path.unlink(missing_ok=True)


def tell(line: str) -> None:
    """Lets a sweep say a line about this process, in place of the one before; "" takes it away."""
    _told[:] = [line] if line else []


def write(state: Mapping[str, Any]) -> None:
    """Replaces the progress file, if there is one; a full disk stops no work."""
    state = {**state, "told": _told[0]} if _told else state
    named = os.environ.get(FILE)
    if (path := Path(named) if named else next(iter(_kept), None)) is not None:
        draft = path.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            draft.write_text(json.dumps(state), encoding="utf-8")
            os.replace(draft, path)


def end(phase: str, note: str) -> None:
    """Tells the sweep, if there is one, how this process ends: `skipped` (nothing was left to do),
    `held` (by the process in `note`) or `failed` (for the reason in `note`).
    """
    if FILE in os.environ:
        write({"phase": phase, "done": 0, "total": None, "note": note, "left": None})
