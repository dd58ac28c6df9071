"""Files that exist as a whole or not at all, also after a power cut."""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from secrets import token_hex

from extrap.utils.errors import UserError, here

HOUR = 3600.0
UNWRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)
OURS = ("runs", "results", "wandb")
"""Folders that extrap writes to, in the working folder. They may be links, to a larger disk; links
inside them are rejected.
"""


def replace(path: Path, content: bytes, sync: bool = True) -> None:
    """Writes a file at once: a reader sees the old content or the new one, never half of it.

    Content and name are on the disk when this returns, unless sync=False. Raises OSError that names
    `path` if the disk does not take it; the old content then stays. Raises UserError for a link in
    place of a folder of ours.
    """
    with _naming(path):
        make_folder(path.parent)
    replace_here(path, content, sync)


def replace_here(path: Path, content: bytes, sync: bool = True, name: bool = True) -> None:
    """Writes a file as `replace` does, into a folder that is there and no link. name=False: the
    caller waits for the name, by `sync_folder`.
    """
    temporary = draft(path)
    with _naming(path):
        try:
            with open(temporary, "xb") as file:  # x: never through a link of this name
                file.write(content)
                file.flush()
                if sync:
                    _sync(file.fileno())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
        if sync and name:
            sync_folder(path.parent)


def draft(path: Path) -> Path:
    """Returns the name of a draft beside a file, which this process alone writes to. The id of the
    process would not do: containers on one disk number their processes alike.
    """
    return path.with_name(f".{path.name}.{token_hex(8)}.tmp")


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Names a file in errors of a full disk, which name none."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            error.filename = str(path)
        raise


def sweep(folder: Path, pattern: str, seconds: float = 0.0) -> None:
    """Removes temporary files that `replace` left in a folder when its process was killed. seconds:
    their least age, in a folder that other processes write to; writing takes moments.
    """
    found = list(folder.glob(pattern))
    try:
        now = _clock(folder) if found and seconds else inf
    except OSError as error:  # a folder of others, which this process reads alone
        if error.errno not in UNWRITABLE:
            raise
        return
    for left in found:
        with suppress(FileNotFoundError, IsADirectoryError):
            if left.lstat().st_mtime <= now - seconds:
                left.unlink()


def _clock(folder: Path) -> float:
    """Returns the time of the disk; the clock of this machine may show another one."""
    mark = draft(folder / "clock")
    try:
        mark.touch(exist_ok=False)
        return mark.stat().st_mtime
    finally:
        mark.unlink(missing_ok=True)


def make_folder(folder: Path) -> None:
    """Makes a folder and its parents, on the disk. Raises UserError for a link on the way."""
    check_way(folder)
    if not folder.is_dir():
        make_folder(folder.parent)
        try:
            folder.mkdir(exist_ok=True)
        except FileNotFoundError:  # in a folder of the system's own, such as /proc
            if not folder.is_absolute() and not here():
                raise
            problem = "extrap cannot make a folder there"
            remedy = "name another place, or work in another folder"
            raise UserError(folder.absolute(), problem=problem, remedy=remedy) from None
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Waits until the names in a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _sync(handle)
    finally:
        os.close(handle)


def _sync(handle: int) -> None:
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # of file systems without it
            raise


def check_links(folder: Path) -> None:
    """Raises UserError for a link in a folder or on the way to it: files would land elsewhere."""
    check_way(folder)
    _refuse([folder])
    _refuse(_links(folder))


def check_side_by_side(folders: Iterable[Path]) -> None:
    """Raises UserError for a link in place of one of many folders, or on the way to them. It lists
    the folder that holds them once.
    """
    wanted = set(folders)
    for parent in {folder.parent for folder in wanted}:
        check_way(parent)
        _refuse(one for one in _links(parent, deep=False) if one in wanted)


def _links(folder: Path, deep: bool = True) -> Iterator[Path]:
    """Yields the links in a folder. A listing of a folder says which names are links."""
    with suppress(FileNotFoundError, NotADirectoryError, PermissionError), os.scandir(folder) as at:
        for one in at:
            if one.is_symlink():
                yield Path(one.path)
            elif deep and one.is_dir():
                yield from _links(Path(one.path))


def check_local(folder: Path) -> None:
    """Raises UserError for a link in a folder, and for one on the way to it from the working
    folder; the way of an absolute path is the user's own.
    """
    parts = () if folder.is_absolute() else folder.parts
    way = [Path(*parts[:n]) for n in range(1, len(parts) + 1)]
    _refuse((*way, folder))
    _refuse(_links(folder))


def check_way(folder: Path) -> None:
    """Raises UserError for a link among the folders that lead from one of ours to this one."""
    parts = folder.parts
    if parts and parts[0] in OURS:
        _refuse(Path(*parts[:n]) for n in range(2, len(parts) + 1))


def _refuse(paths: Iterable[Path]) -> None:
    if (link := next((path for path in paths if path.is_symlink()), None)) is not None:
        problem = "a link, and extrap does not write through links"
        remedy = "replace it by the file or folder itself, or remove it"
        raise UserError(link, problem=problem, remedy=remedy)


def no_link(path: str, flags: int) -> int:
    """An `opener` of files alone: it follows no link and waits for no pipe. Raises OSError."""
    handle = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.ENXIO, os.strerror(errno.ENXIO), path)
    return handle
