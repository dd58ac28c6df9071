"""Ctrl-C while large libraries are imported."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_back() -> Iterator[None]:
    """Delays Ctrl-C to the end of the context. torch and numpy take one within an import for an
    error of their own, or stay half imported.
    """
    ours = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT)
    if not (ours and callable(before)):  # others than Python's handlers stay as they are
        yield
        return
    asked = []
    signal.signal(signal.SIGINT, lambda *_: asked.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if asked:
            signal.raise_signal(signal.SIGINT)
