"""Locks of a folder, or of one kind of work in it, for one process at a time. A lock (filelock's,
on a descriptor) ends with the process that holds it, however that ends, and with the processes that
draw batches for it (`trainer.workers`) some seconds later.

filelock's FileLock would do for waiting alone. This lock file also names its holder, answers
processes that cannot write there, does not outlive its process on a file system without locks, and
counts for nothing once its folder was removed.
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
SAID = 1000
"""Characters of a lock file that name its holder."""
LACKING = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)  # of file systems without locks
POLL = 0.2
"""Seconds between two attempts while waiting."""


class Held(Exception):
    """Another process holds the lock; the message names it."""


@contextmanager
def alone(folder: Path, work: str = "", wait: bool = True) -> Iterator[None]:
    """Locks a folder, or the work of this name in it, and makes the folder. Waits, with one line on
    stderr, while another process holds the lock; wait=False: raises Held instead.
    """
    path = _path(folder, work)
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            file = open(path, "a+", encoding="utf-8", opener=no_link)  # noqa: SIM115  closed below
        except FileNotFoundError:  # the folder was removed since
            continue
        with file:
            with _named(path):
                _take(file.fileno(), folder, work, wait)
                # Removed while this process waited for it: its lock guards nothing.
                if not _still_there(file.fileno(), path):
                    continue
                file.truncate(0)
                file.write(f"process {os.getpid()} on {socket.gethostname()}")
                file.flush()
            yield
            return


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Names the lock file in an error of a disk, such as ESTALE, which names none."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def holder(folder: Path, work: str = "") -> str | None:
    """Returns the holder of the folder, or of the work of this name in it: "process 123 on host";
    None without a holder. The lock of a dead process counts for nothing.
    """
    return _holder(_path(folder, work))


def any_part(folder: Path) -> str | None:
    """Returns a holder of any work in the folder, or None."""
    return next(filter(None, map(_holder, sorted(folder.glob(f"{NAME}-*")))), None)


def _path(folder: Path, work: str) -> Path:
    return folder / (f"{NAME}-{work}" if work else NAME)


def _holder(path: Path) -> str | None:
    try:
        with _opened(path) as file:
            if not lock_descriptor(file.fileno(), blocking=False):
                return file.read(SAID) or "another process"
    except OSError:  # no folder, or a file system without locks
        pass
    return None


def _opened(path: Path) -> TextIO:
    """Opens for writing if possible: NFS gives no lock on a file opened to be read alone."""
    try:
        return open(path, "r+", encoding="utf-8", opener=no_link)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        return open(path, encoding="utf-8", opener=no_link)


def _take(file: int, folder: Path, work: str, wait: bool) -> None:
    try:
        if not lock_descriptor(file, blocking=False):
            who = holder(folder, work) or "another process"
            if not wait:
                raise Held(who)
            line = f"extrap: {who} works on {folder.name}; waiting for it"
            print(line, file=sys.stderr, flush=True)
            lock_descriptor(file, poll_interval=POLL)
    except OSError as error:
        if error.errno not in LACKING:
            raise
        problem = "no locks on this file system; start one sweep at a time"
        print(f"extrap: {folder}: {problem}", file=sys.stderr)


def _still_there(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False
