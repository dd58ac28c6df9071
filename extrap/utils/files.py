"""Files that are there as a whole or not at all, also after a power cut."""

import errno
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from extrap.utils.errors import UserError

OURS = ("runs", "results", "wandb")
"""Folders that the program writes to, in the folder it was started in. They may be links, to a disk
with more room; what lies in them may not.
"""


def replace(path: Path, content: bytes, sync: bool = True) -> None:
    """Puts a file in place at once: a reader sees the old content or the new one, never half of it.

    The content and the file's name are on the disk when this returns, so that what is written next
    may rely on it; with sync=False the caller sees to that. Raises OSError that names `path` where
    the disk does not take it; the old content then stands. Raises UserError where a folder on the
    way, in one of ours, is a link.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        make_folder(path.parent)
        temporary.unlink(missing_ok=True)
        try:
            with open(
                temporary, "xb"
            ) as file:  # x: never through a link that somebody left under this name
                file.write(content)
                file.flush()
                if sync:
                    os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
        if sync:
            sync_folder(path.parent)
    except OSError as error:
        if error.errno is not None:
            error.filename = str(path)  # what a full disk says has no name
        raise


def sweep(folder: Path, pattern: str) -> None:
    """Removes what `replace` left below a folder when its process was killed. Only for files that
    no other process writes now.
    """
    for left in folder.glob(pattern):
        if left.is_symlink() or left.is_file():
            left.unlink(missing_ok=True)


def sweep_old(folder: Path, pattern: str, seconds: float = 3600.0) -> None:
    """Removes what `replace` left in a folder that several processes write to: what nobody has
    touched for an hour, where writing takes moments.
    """
    for left in folder.glob(pattern):
        with suppress(FileNotFoundError):
            if left.lstat().st_mtime < time.time() - seconds:
                left.unlink()


def make_folder(folder: Path) -> None:
    """Makes a folder and those above it; their names are on the disk when this returns. Raises
    UserError where one of them, in a folder of ours, is a link.
    """
    check_way(folder)
    if not folder.is_dir():
        make_folder(folder.parent)
        try:
            folder.mkdir(exist_ok=True)
        except FileNotFoundError:  # in a folder of the system's own, such as /proc
            if not folder.is_absolute():
                raise
            raise UserError(
                folder, problem="extrap cannot make a folder there", remedy="name another place"
            ) from None
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Waits until the names in a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (
            errno.EINVAL,
            errno.ENOTSUP,
        ):  # a file system whose folders cannot be synced
            raise
    finally:
        os.close(handle)


def check_links(folder: Path) -> None:
    """Raises UserError for a link in place of a folder, anywhere in it or on the way to it: what is
    written there would land elsewhere.
    """
    check_way(folder)
    _refuse(path for path in (folder, *folder.rglob("*")))


def check_way(folder: Path) -> None:
    """Raises UserError for a link among the folders that lead from one of ours to this one."""
    parts = folder.parts
    if parts and parts[0] in OURS:
        _refuse(Path(*parts[:n]) for n in range(2, len(parts) + 1))


def _refuse(paths: Iterable[Path]) -> None:
    if (link := next((path for path in paths if path.is_symlink()), None)) is not None:
        raise UserError(
            link,
            problem="a link, and extrap does not write through links",
            remedy="replace it by the file or folder itself, or remove it",
        )


def no_link(path: str, flags: int) -> int:
    """An `opener` for a file itself, never for what a link that somebody left there points to."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)
