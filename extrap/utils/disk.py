"""Disks that take or give nothing, in words: the machine's fault, told in a line like a mistake."""

import errno

FAULTS = {
    errno.ENOSPC: "the disk is full; make room, the same command then goes on where it stopped",
    errno.EDQUOT: "the disk quota is used up; make room, the same command then goes on where it stopped",
    errno.EFBIG: "the file would be larger than is allowed here (ulimit -f); raise the limit, the same command then goes on",
    errno.EROFS: "the file system is read-only; work in a folder that can be written to",
    errno.EACCES: "no permission; work in a folder that is yours",
    errno.EPERM: "not permitted; work in a folder that is yours",
    errno.EIO: "the disk fails; nothing half-written is kept, the same command goes on where it stopped",
}


def fault(error: BaseException) -> str | None:
    """The line about a full, read-only, foreign or broken disk, naming the file; None for every other error."""
    if not isinstance(error, OSError) or error.errno not in FAULTS:
        return None
    return f"{error.filename or 'a temporary file'}: {FAULTS[error.errno]}"
