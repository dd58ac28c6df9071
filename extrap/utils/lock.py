"""One process at a time in a folder, or at one of several kinds of work in it. The lock
(filelock's, on a descriptor) goes with the process that holds it, however that ends; with those
that draw batches for it (`trainer.workers`), which notice some seconds later.

filelock's FileLock, which opens the file by itself, would do for waiting alone. Here the file also
says who holds it, may be asked by somebody who cannot write there, is no file left behind to hold
the folder where a file system has no locks, and counts for nothing once its folder was removed.
"""

import errno
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from filelock import lock_descriptor

from extrap.utils.files import no_link

NAME = ".lock"
LACKING = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)  # what file systems without locks answer
POLL = 0.2
"""Seconds between two attempts of who waits."""


class Held(Exception):
    """Another process holds what was asked for; says who."""


@contextmanager
def alone(folder: Path, work: str = "", wait: bool = True) -> Iterator[None]:
    """Waits, with one line on stderr, while another process holds the folder, or the work of this
    name in it; makes the folder where there is none. wait=False: raises Held instead.
    """
    path = _path(folder, work)
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            file = open(path, "a+", encoding="utf-8", opener=no_link)  # noqa: SIM115  closed below, on every way out
        except FileNotFoundError:  # the folder was removed since
            continue
        with file:
            _take(file.fileno(), folder, work, wait)
            # Removed while this process waited for it: its lock guards nothing.
            if not _still_there(file.fileno(), path):
                continue
            file.truncate(0)
            file.write(f"process {os.getpid()} on {socket.gethostname()}")
            file.flush()
            yield
            return


def holder(folder: Path, work: str = "") -> str | None:
    """Who holds the folder, or the work of this name in it: "process 123 on host"; None where
    nobody does. A lock left behind by a dead process counts for nothing.
    """
    return _holder(_path(folder, work))


def any_part(folder: Path) -> str | None:
    """Who holds any work in the folder; None where nobody does."""
    return next(filter(None, map(_holder, sorted(folder.glob(f"{NAME}-*")))), None)


def _path(folder: Path, work: str) -> Path:
    return folder / (f"{NAME}-{work}" if work else NAME)


def _holder(path: Path) -> str | None:
    try:
        with _opened(path) as file:
            if not lock_descriptor(file.fileno(), blocking=False):
                return file.read() or "another process"
    except OSError:  # no folder, or a file system without locks
        pass
    return None


def _opened(path: Path) -> TextIO:
    """For writing where that is allowed: NFS gives no lock on what was opened to be read alone."""
    try:
        return open(path, "r+", encoding="utf-8")
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        return open(path, encoding="utf-8")


def _take(file: int, folder: Path, work: str, wait: bool) -> None:
    try:
        if not lock_descriptor(file, blocking=False):
            who = holder(folder, work) or "another process"
            if not wait:
                raise Held(who)
            print(
                f"extrap: {who} works on {folder.name}; waiting for it",
                file=sys.stderr,
                flush=True,
            )
            lock_descriptor(file, poll_interval=POLL)
    except OSError as error:
        if error.errno not in LACKING:
            raise
        print(
            f"extrap: {folder}: no locks on this file system; start one sweep at a time",
            file=sys.stderr,
        )


def _still_there(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False
