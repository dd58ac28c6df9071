"""How many cores this process may use."""

import os
from contextlib import suppress
from pathlib import Path

QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""cgroup v2: microseconds of processor time per period, and the period."""

SHARE = "EXTRAP_CORES"
"""In the environment of a job: the cores that a sweep leaves to it."""


def cores() -> int:
    """Returns the least of the affinity mask, the container's quota and a sweep's share."""
    masked = hasattr(os, "sched_getaffinity")
    allowed = [len(os.sched_getaffinity(0)) if masked else os.cpu_count() or 1]
    share = os.environ.get(SHARE, "")
    if share.isdecimal():
        allowed.append(int(share))
    with suppress(OSError, ValueError):  # no cgroup of version 2, or the word "max"
        quota, period = QUOTA.read_text(encoding="utf-8").split()
        allowed.append(int(quota) // int(period))
    return max(1, min(allowed))
