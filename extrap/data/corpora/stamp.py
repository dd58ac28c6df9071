"""Whether the files of a folder are those that this machine put there itself.

`stamp.json` holds size, times and inode of each. Who packs a folder for somebody else can copy the
file, but not choose the inodes and the times of change, to the nanosecond, that unpacking gives.
"""

import json
from pathlib import Path

from extrap.utils import files as atomic

NAME = "stamp.json"


def put(folder: Path) -> None:
    """Writes down the files of a folder as they are now. Raises OSError if the folder is not
    writable.
    """
    atomic.replace(folder / NAME, json.dumps(_seen(folder)).encode())


def holds(folder: Path) -> bool:
    """True if the folder holds exactly the files that were written down, unchanged since."""
    try:
        return json.loads((folder / NAME).read_text()) == _seen(folder)
    except (OSError, ValueError, RecursionError):
        return False


def _seen(folder: Path) -> dict[str, list[int]]:
    stats = {path.name: path.lstat() for path in folder.iterdir() if path.name[0] != "."}
    return {
        name: [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
        for name, stat in sorted(stats.items())
        if name != NAME
    }
