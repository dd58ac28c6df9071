"""Locks of a folder, or of one kind of work in it, for one process at a time. A lock (filelock's,
on a descriptor) ends with the process that holds it, however that ends, and with the processes that
draw batches for it (`trainer.workers`) some seconds later.

filelock's FileLock would do for waiting alone. This lock file also names its holder, answers
processes that cannot write there, and counts for nothing once its folder was removed.

Where the file system has no locks (Lustre mounted without flock; NFS without a lock service on any
node, if EXTRAP_LEASES=1 says so), filelock's SoftFileLease takes their place: a file beside the
lock, which its holder touches three times in LEASE seconds. The lease of a process that was killed
is free at once for processes of its machine, and for others once they have seen it untouched for
LEASE seconds.
"""

import errno
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import TextIO

from filelock import LeaseCompromise, SoftFileLease, Timeout, lock_descriptor

from extrap.utils.atomic import no_link

NAME, LEASE_NAME = ".lock", ".lease"
SAID = 1000
"""Characters of a lock file that name its holder."""
LACKING = (errno.ENOSYS, errno.EOPNOTSUPP)
"""Errors of file systems without locks. ENOLCK alone is none: on NFS the lock service of one node
is off, and a lease there keeps out nobody who locks elsewhere.
"""
LEASES = "EXTRAP_LEASES"
"""Environment variable: 1 says that no node locks there, so that ENOLCK takes a lease, too."""
POLL = 0.2
"""Seconds between two attempts while waiting."""
LEASE = 60.0
"""Seconds after which the lease of a process that is gone may be taken."""


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
                locked = _taken(file.fileno(), folder, work, wait)
            with nullcontext() if locked else _leased(folder, work, wait):
                with _named(path):
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
            if not _free(file.fileno(), path):
                return file.read(SAID) or "another process"
    except OSError:  # no folder
        pass
    return None


def _free(file: int, path: Path) -> bool:
    try:
        return lock_descriptor(file, blocking=False)
    except OSError as error:
        if not _lacking(error):
            raise
    lease = _lease(path.absolute())
    if lease.is_locked:
        return False
    if Path(lease.lock_file).exists():
        try:
            with lease.acquire(timeout=0):
                pass
        except Timeout:
            return False
    return True


def _opened(path: Path) -> TextIO:
    """Opens for writing if possible: NFS gives no lock on a file opened to be read alone."""
    try:
        return open(path, "r+", encoding="utf-8", opener=no_link)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        return open(path, encoding="utf-8", opener=no_link)


def _taken(file: int, folder: Path, work: str, wait: bool) -> bool:
    """Locks a file. Returns False if its file system has no locks."""
    try:
        if not lock_descriptor(file, blocking=False):
            _wait(folder, work, wait)
            lock_descriptor(file, poll_interval=POLL)
        return True
    except OSError as error:
        if not _lacking(error):
            raise
        return False


def _lacking(error: OSError) -> bool:
    """True for the error of a file system whose locks a lease replaces."""
    unserved = error.errno == errno.ENOLCK and os.environ.get(LEASES) == "1"
    return unserved or error.errno in LACKING


@contextmanager
def _leased(folder: Path, work: str, wait: bool) -> Iterator[None]:
    """Holds the lease of a folder in place of its lock."""
    lease = _lease(_path(folder, work).absolute())
    try:
        lease.acquire(timeout=0)
    except Timeout:
        _wait(folder, work, wait)
        lease.acquire(poll_interval=POLL)
    try:
        yield
    finally:
        lease.release()


@cache
def _lease(path: Path) -> SoftFileLease:
    """The lease of this process in place of a lock. One object alone sees for how long the lease of
    another process was not touched.
    """
    beside = path.with_name(path.name.replace(NAME, LEASE_NAME, 1))
    return SoftFileLease(beside, lease_duration=LEASE, on_compromise=_lost)


def _lost(lease: LeaseCompromise) -> None:
    problem = f"the lease of this process is lost ({lease.reason}); another one may work there"
    print(f"extrap: {Path(lease.lock_file).parent}: {problem}", file=sys.stderr, flush=True)


def _wait(folder: Path, work: str, wait: bool) -> None:
    """Says for whom this process waits, or raises Held."""
    who = holder(folder, work) or "another process"
    if not wait:
        raise Held(who)
    print(f"extrap: {who} works on {folder.name}; waiting for it", file=sys.stderr, flush=True)


def _still_there(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False
