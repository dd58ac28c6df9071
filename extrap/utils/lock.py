"""One process at a time in a folder. The lock (filelock's, on a descriptor) goes with the process
that holds it, however that ends.

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

from filelock import lock_descriptor

from extrap.utils.files import no_link

NAME = ".lock"
LACKING = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)  # what file systems without locks answer
POLL = 0.2
"""Seconds between two attempts of who waits."""


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Waits, with one line on stderr, while another process holds the folder; makes the folder
    where there is none.
    """
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            file = open(folder / NAME, "a+", encoding="utf-8", opener=no_link)  # noqa: SIM115  closed below, on every way out
        except FileNotFoundError:  # the folder was removed since
            continue
        with file:
            _take(file.fileno(), folder)
            # Removed while this process waited for it: its lock guards nothing.
            if not _still_there(file.fileno(), folder):
                continue
            file.truncate(0)
            file.write(f"process {os.getpid()} on {socket.gethostname()}")
            file.flush()
            yield
            return


def holder(folder: Path) -> str | None:
    """Who holds the folder: "process 123 on host"; None where nobody does. A lock left behind by a
    dead process counts for nothing.
    """
    try:
        with open(folder / NAME, encoding="utf-8") as file:
            if not lock_descriptor(file.fileno(), blocking=False):
                return file.read() or "another process"
    except OSError:  # no folder, or a file system without locks
        pass
    return None


def _take(file: int, folder: Path) -> None:
    try:
        if not lock_descriptor(file, blocking=False):
            print(
                f"extrap: {holder(folder) or 'another process'} works on {folder.name}; waiting "
                "for it",
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


def _still_there(file: int, folder: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(folder / NAME))
    except FileNotFoundError:
        return False
