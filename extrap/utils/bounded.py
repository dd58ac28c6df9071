"""A limit of time and memory around patterns and templates that somebody else wrote.

Both are programs: `(\\w+\\s?)+\\d$` tries every way to cut a line into words, and
`{{ 'x' * 10**9 }}` is a gigabyte. Python looks for signals inside both, and the system refuses
memory beyond a limit.
"""

import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SIZE = Path("/proc/self/statm")
"""Linux: pages of address space of this process, first of some numbers."""


class Exceeded(Exception):
    """The limit that was reached, in words."""


class _TimeOver(BaseException):
    """No Exception: jinja computes constants beforehand, ignores every Exception of them and then
    computes them again, without a timer.
    """


@contextmanager
def bounded(seconds: float, memory: int) -> Iterator[None]:
    """Raises Exceeded if what happens inside takes longer or more memory.

    Args:
        seconds: of processor time, counted in the main thread alone, as signals reach no other
        memory: bytes beyond what the process has, counted on Linux
    """
    timed = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGPROF, _over) if timed else None
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = _used() + memory
    narrower = SIZE.exists() and (soft == resource.RLIM_INFINITY or limit < soft)
    try:
        if narrower:
            resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
        if timed:
            signal.setitimer(signal.ITIMER_PROF, seconds)
        yield
    except MemoryError:
        raise Exceeded(f"needs more than {memory / 2**30:.1g} GiB of memory") from None
    except _TimeOver:
        raise Exceeded(f"takes more than {seconds:.0f} s") from None
    finally:
        if timed:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, handler)
        if narrower:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _over(*_: Any) -> None:
    raise _TimeOver


def _used() -> int:
    """Returns the bytes of address space of this process, 0 where the system does not say."""
    if not SIZE.exists():
        return 0
    return int(SIZE.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
